"""The rule book: what columns are taken for and why, for Python and the command line alike."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mixwood as mw
from mixwood.cli.choosing import chosen
from mixwood.cli.columns import select
from mixwood.likelihoods.choose import LEFT_OUT, choose
from mixwood.likelihoods.table_layout import labels_of
from mixwood.readers import Loaded
from mixwood.reference import family_of

RNG = np.random.default_rng(5)
N = 40
DAYS = pd.date_range("2020-01-01", periods=N)
COLUMNS = {
    # what it is taken for, a word of the reason, the entries
    "real": ("numbers", "numbers", RNG.normal(size=N)),
    "holes": ("numbers", "numbers", np.where(np.arange(N) % 7 == 0, np.nan, RNG.normal(size=N))),
    "large": ("numbers", "numbers", RNG.integers(1000, 9000, N)),
    "negative": ("numbers", "numbers", RNG.integers(-9, 10, N)),
    "decimals": ("numbers", "numbers", [decimal.Decimal(k) / 7 for k in range(N)]),
    "spelled": ("numbers", "numbers", [f"{x:.3f}" for x in RNG.normal(size=N)]),
    "counts": ("counts", "counts", RNG.poisson(4, N)),
    "bits": ("yes or no", "two values", RNG.integers(0, 2, N)),
    "one two": ("yes or no", "two values", 1 + RNG.integers(0, 2, N)),
    "truth": ("yes or no", "truth", RNG.random(N) < 0.5),
    "sex": ("yes or no", "two values", RNG.choice(["f", "m"], N)),
    "stars": ("categories", "whole numbers with 4", 1 + np.arange(N) % 4),
    "city": ("categories", "text with 3 categories", RNG.choice(["ulm", "bonn", "köln"], N)),
    "postal": ("categories", "text with 3 categories", RNG.choice(["01067", "89073", "5"], N)),
    "declared": ("categories", "3 categories", pd.Categorical([1, 2] * 20, categories=[1, 2, 3])),
    "id": (LEFT_OUT, "numbers the rows", RNG.permutation(N) + 1),
    "flat": (LEFT_OUT, "one value", np.full(N, 7)),
    "flat with holes": (LEFT_OUT, "one value", [7.0, np.nan] * (N // 2)),
    "name": (LEFT_OUT, "nearly every entry differs", [f"person {k}" for k in range(N)]),
    "day": (LEFT_OUT, "dates", DAYS),
    "day with zone": (LEFT_OUT, "dates", DAYS.tz_localize("UTC")),
    "day as text": (LEFT_OUT, "dates", DAYS.strftime("%Y-%m-%d")),
    "german day": (LEFT_OUT, "dates", [f"{1 + k % 5}.3.2021" for k in range(N)]),
    "clock": (LEFT_OUT, "dates", [datetime.time(k % 24) for k in range(N)]),
    "excel day": (LEFT_OUT, "dates", [f"{1 + k % 9}-Mar-21" for k in range(N)]),
    "written day": (LEFT_OUT, "dates", [f"March {1 + k % 9}, 2021" for k in range(N)]),
    "odd day": (LEFT_OUT, "dates", ["2021-03-14"] * (N - 3) + ["soon", "later", "2021-04-01"]),
    "time": (LEFT_OUT, "dates", [f"{k % 24:02d}:15" for k in range(N)]),
    "by day": (LEFT_OUT, "numbers the rows", 2000 + 5 * np.arange(N)),
    "backwards": (LEFT_OUT, "numbers the rows", 100 - np.arange(N)),
    "share": ("numbers", "written with %", [f"{x:.1f}%" for x in RNG.uniform(1, 90, N)]),
    "price": ("numbers", "written with $", [f"${x:,.2f}" for x in RNG.uniform(500, 2000, N)]),
    "fee": ("numbers", "written with EUR", [f"EUR {x}" for x in RNG.integers(50, 99, N)]),
    "people": ("numbers", "thousands", [f"{x:,}" for x in RNG.integers(900, 10**6, N)]),
    "comma": (
        "numbers",
        "decimal commas",
        [f"{x:.2f}".replace(".", ",") for x in RNG.normal(size=N)],
    ),
    "written counts": ("counts", "counts written", [f"{x}%" for x in RNG.poisson(7, N)]),
    "one price": (LEFT_OUT, "one value", ["$5", "$5.00"] * (N // 2)),
    "nothing": (LEFT_OUT, "no entries", np.full(N, np.nan)),
    "lists": (LEFT_OUT, "neither", [[k] for k in range(N)]),
    "mixed": (LEFT_OUT, "numbers and text", [1.5, "x"] * (N // 2)),
}
BASE = RNG.normal(size=N)
FRAME = pd.DataFrame({name: values for name, (_, _, values) in COLUMNS.items()})


@pytest.mark.parametrize("name", COLUMNS)
def test_each_column_is_taken_for_what_it_is(name):
    kind, reason, _ = COLUMNS[name]
    table = pd.DataFrame({"base": BASE, "other": FRAME[name]})
    [_, judged] = choose(table).columns
    assert judged.column == "other"
    assert judged.kind == kind
    assert reason in judged.reason


def test_polars_columns_are_judged_alike():
    usable = [c for c in FRAME if c not in ("declared", "lists", "mixed", "clock", "decimals")]
    ours = choose(FRAME[usable])
    assert choose(pl.DataFrame(FRAME[usable].to_dict("list"))).columns == ours.columns


@pytest.mark.parametrize(
    "names",
    [
        ["real", "large"],
        ["real", "holes"],
        ["bits"],
        ["counts"],
        ["stars"],
        ["sex", "city"],
        ["real", "stars", "counts", "bits", "city"],
        ["real", "large", "id", "flat", "name", "day"],
        ["id", "sex", "holes"],
        ["real", "price", "share", "id"],
    ],
)
def test_one_table_gets_one_model(names):
    """The command line, with what it leaves out dropped first, and `from_frame`."""
    table = FRAME[names]
    selection = select(Loaded(table, "t.csv", "csv"), [], [], None)
    values, typed, _ = chosen(selection.values, "t.csv", leave_out=True)
    product, whole = mw.Product.from_frame(values), choose(table)
    for other in (typed, whole.likelihood):
        parts = list(other.parts.items()) if other.reads_tables else [(tuple(values), other)]
        for (_, part), own in zip(parts, product.parts.values(), strict=True):
            assert part == own or (part.is_open and part.stands_for(own))
        assert [labels_of(key) for key, _ in parts] == [labels_of(key) for key in product.parts]
    resolved, X = typed.fitted_to(values)
    ours, same = product.fitted_to(values)
    np.testing.assert_array_equal(X, same)
    labels = np.arange(N) % 3
    assert _log_joint(resolved, X, labels) == pytest.approx(_log_joint(ours, same, labels))
    assert set(selection.left_out) == {c.column for c in whole.columns if c.kind == LEFT_OUT}


def _log_joint(likelihood, X, labels):
    family = family_of(likelihood)
    X = np.array([family.filled(row) if family.lacks(row) else row for row in X])
    return sum(family.log_marginal(family.of(X[labels == k])) for k in np.unique(labels))


@pytest.mark.parametrize(
    ("names", "likelihood"),
    [
        (["real"], mw.AutoGaussian()),
        (["real", "large", "negative"], mw.AutoGaussian()),
        (["real", "holes"], mw.AutoGaussian()),
        (["counts"], mw.Poisson()),
        (["bits", "truth"], mw.Bernoulli()),
        (["real", "id"], mw.Product({"real": mw.AutoGaussian()})),
        (["price"], mw.Product({"price": mw.AutoGaussian()})),
        (["one two"], mw.Product({"one two": mw.Bernoulli()})),
        (["city"], mw.Product({"city": mw.Categorical()})),
        (["real", "counts"], mw.Product({"counts": mw.Poisson(), "real": mw.Gaussian()})),
    ],
)
def test_columns_of_one_kind_need_no_product(names, likelihood):
    found = choose(FRAME[names]).likelihood
    assert found == likelihood
    found.fitted_to(FRAME[names])


def test_many_columns_of_numbers_are_kept_apart():
    wide = pd.DataFrame(RNG.normal(size=(N, 31)))
    assert choose(wide).likelihood == mw.AutoGaussian()
    assert choose(wide, structure=False).likelihood == mw.DiagonalGaussian()
    assert choose(wide.iloc[:, :8], structure=False).likelihood == mw.Gaussian()
    few = choose(wide.iloc[:, :9], structure=False)  # 45 parameters, 40 rows
    assert few.likelihood == mw.DiagonalGaussian()
    assert few.why == "40 rows are few for the covariances of 9 columns of numbers"
    long = pd.DataFrame(RNG.normal(size=(500, 31)))
    assert choose(long.iloc[:, :30], structure=False).likelihood == mw.Gaussian()
    assert choose(long, structure=False).likelihood == mw.DiagonalGaussian()


def test_a_few_numbers_are_just_numbers():
    """Three rows of two values do not make a column of yes and no; zeros and ones do."""
    few = pd.DataFrame({"x": [1.5, 2.5, 1.5], "y": [2, 2, 4], "z": [0, 1, 1]})
    assert [c.kind for c in choose(few).columns] == ["numbers", "numbers", "yes or no"]
    one = choose(pd.DataFrame({"x": [3.0], "y": [4.0]}))
    assert one.likelihood == mw.AutoGaussian()  # a single row has no constants


def test_asked_for_nothing_useful_is_left_out():
    asked = choose(FRAME[["id", "flat", "name", "day"]], leave_out=False)
    assert [c.kind for c in asked.columns] == ["counts", "numbers", "categories", LEFT_OUT]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_slips_do_not_turn_numbers_into_text(make):
    values = [f"{k}.5" for k in range(N)]
    values[13] = "l4.5"
    with pytest.raises(ValueError, match=r"'a' of frame holds numbers, but 'l4\.5' in row 13"):
        mw.Product.from_frame(make({"a": values}))


@pytest.mark.parametrize("entry", [10**309, "1e309", float("inf"), decimal.Decimal("1e400")])
def test_numbers_beyond_a_float_are_named(entry):
    values = [10**k for k in range(N)]
    values[7] = entry
    table = pd.DataFrame({"b": RNG.normal(size=N), "a": pd.Series(values, dtype=object)})
    with pytest.raises(ValueError, match=r"column 'a' of frame has .* in row 7 .*too large"):
        mw.Product.from_frame(table)
    with pytest.raises(ValueError, match=r"row 7"):
        mw.Gaussian().check(table)
    with pytest.raises(ValueError, match=r"column 'a' of t\.csv has .* in row 7"):
        select(Loaded(table, "t.csv", "csv"), [], [], None)


def test_text_beyond_a_float_is_named_wherever_it_is_read():
    table = pd.DataFrame({"b": ["1", "2"], "a": ["1e0", "1e309"]})
    with pytest.raises(ValueError, match=r"\('a'\) of X has '1e309' in row 1: .*too large"):
        mw.Gaussian().check(table)
    with pytest.raises(ValueError, match=r"column 'a' of X has '1e309' in row 1: .*too large"):
        mw.Product({"a": mw.Gaussian()}).fitted_to(table)


@pytest.mark.parametrize(
    "name", ["id", "Patient_ID", "customerId", "barcode", "sample", "uuid", "index"]
)
@pytest.mark.parametrize("text", [False, True])
def test_names_tell_identifiers_if_entries_differ(name, text):
    numbers = RNG.permutation(10**6)[:8]
    unique = [f"s{k}" for k in numbers[:5]] if text else numbers[:5]
    frame = pd.DataFrame({name: unique, "x": RNG.normal(size=5)})
    [judged, _] = choose(frame).columns
    assert judged.kind == LEFT_OUT
    assert "identifier" in judged.reason
    assert choose(frame, leave_out=False).columns[0].kind != LEFT_OUT
    repeated = pd.DataFrame({name: list(unique[:2]) * 4, "x": RNG.normal(size=8)})
    assert choose(repeated).columns[0].kind != LEFT_OUT


@pytest.mark.parametrize("name", ["width", "price_index", "grid", "paid", "humid", "sampled", "x"])
def test_other_names_tell_nothing(name):
    frame = pd.DataFrame({name: RNG.permutation(10**6)[:N], "x y": RNG.normal(size=N)})
    assert choose(frame).columns[0].kind == "numbers"


def test_measurements_are_no_identifiers_whatever_their_name():
    frame = pd.DataFrame({"sample": RNG.normal(size=N)})
    assert choose(frame).columns[0].kind == "numbers"


def test_numbers_of_rows_with_rows_taken_out():
    kept = np.sort(RNG.choice(60, N, replace=False))
    frame = pd.DataFrame({"a": RNG.normal(size=60), "n": np.arange(60) * 3.0 + 7})
    frame.loc[~np.isin(np.arange(60), kept), "n"] = np.nan
    assert choose(frame).columns[1].reason == "it numbers the rows"


COPIES = pd.DataFrame(
    {
        "x": RNG.normal(size=N),
        "n": RNG.poisson(6, N),
        "city": RNG.choice(["ulm", "bonn", "essen"], N),
        "x again": 0.0,
        "x in inches": 0.0,
        "minus n": 0,
        "city again": "",
        "code": 0,
        "x nearly": 0.0,
    }
).assign(
    **{
        "x again": lambda t: t["x"],
        "x in inches": lambda t: t["x"] / 2.54 + 3,
        "minus n": lambda t: 40 - 2 * t["n"],
        "city again": lambda t: t["city"],
        "code": lambda t: t["city"].map({"ulm": 7, "bonn": 8, "essen": 3}),
        "x nearly": lambda t: t["x"] + 0.01 * BASE,
    }
)


@pytest.mark.parametrize("make", [pd.DataFrame, lambda table: pl.DataFrame(table.to_dict("list"))])
def test_copies_of_columns_are_left_out(make):
    told = {c.column: c.reason for c in choose(make(COPIES)).columns if c.kind == LEFT_OUT}
    assert told == {
        "x again": "a copy of 'x'",
        "x in inches": "an exact linear function of 'x'",
        "minus n": "an exact linear function of 'n'",
        "city again": "a copy of 'city'",
        "code": "'city' in other words",
    }
    asked = choose(make(COPIES), leave_out=False)
    assert all(c.kind != LEFT_OUT for c in asked.columns)


def test_few_rows_agree_by_chance():
    frame = pd.DataFrame({"a": [1.0, 2, 4], "b": [2.0, 4, 8], "c": ["x", "y", "x"]})
    frame["d"] = ["u", "v", "u"]
    assert all(c.kind != LEFT_OUT for c in choose(frame).columns)


def test_copies_with_holes_must_have_the_same_ones():
    holes = COPIES[["x"]].assign(y=COPIES["x"].mask(np.arange(N) == 3))
    assert [c.kind for c in choose(holes).columns] == ["numbers", "numbers"]
    same = holes[["y"]].assign(z=holes["y"] * 2)
    assert choose(same).columns[1].reason == "an exact linear function of 'y'"


NUMBERS = ["real", "large", "negative"]
BESIDE = [name for name in COLUMNS if COLUMNS[name][0] != "numbers" and name != "declared"]


@pytest.mark.parametrize("name", BESIDE)
def test_no_other_column_changes_how_numbers_are_treated(name):
    """A column that is left out least of all: the structure is open still."""
    alone = choose(FRAME[NUMBERS])
    for order in ([*NUMBERS, name], [name, *NUMBERS]):
        with_it = choose(FRAME[order])
        told = {c.column: c for c in with_it.columns}
        assert [told[n] for n in NUMBERS] == list(alone.columns)
        part = with_it.likelihood.parts[tuple(NUMBERS)]
        assert part == (mw.AutoGaussian() if told[name].kind == LEFT_OUT else mw.Gaussian())


@pytest.mark.parametrize("kind", ["left out", "text"])
def test_holes_elsewhere_do_not_count(kind):
    if kind == "left out":
        other = np.where(np.arange(N) % 2 == 0, np.nan, np.arange(N))  # numbers the rows
    else:
        other = [None if k % 4 == 0 else "abc"[k % 3] for k in range(N)]
    chosen = choose(FRAME[NUMBERS].assign(other=other)).likelihood
    expected = mw.AutoGaussian() if kind == "left out" else mw.Gaussian()
    assert chosen.parts[tuple(NUMBERS)] == expected


def test_numbers_alone_have_their_structure_tried_next_to_what_is_left_out():
    frame = FRAME[NUMBERS].assign(id=np.arange(N), name=[f"p{k}" for k in range(N)])
    options = {"draws": 5, "warmup": 5, "chains": 1, "seed": 1, "progress": False}
    post = mw.sample(mw.Mixture(choose(frame).likelihood), frame, **options)
    bare = mw.sample(mw.Mixture(), FRAME[NUMBERS], **options)
    assert post.settings["structure"] == bare.settings["structure"]
    assert post.columns == tuple(NUMBERS)
    [part] = post.resolved.parts.values()
    assert type(part) is type(bare.resolved)


def test_the_users_own_table_is_taken_again():
    frame = FRAME[["id", "real", "price", "comma", "city", "day", "name"]]
    chosen = choose(frame)
    options = {"draws": 5, "warmup": 5, "chains": 1, "seed": 1, "progress": False}
    post = mw.sample(mw.Mixture(chosen.likelihood), frame, **options)
    used = ["real", "price", "comma", "city"]
    whole = post.log_density(frame)
    for table in (frame[used], frame[used[::-1]], pl.DataFrame(frame[used].to_dict("list"))):
        np.testing.assert_array_equal(post.log_density(table), whole)
        np.testing.assert_array_equal(post.predict(table), post.predict(frame))
        np.testing.assert_array_equal(post.predict_proba(table), post.predict_proba(frame))
    few = frame.iloc[:2].assign(price=["$1,000", "$900.50"], comma=["1", "2,5"])
    plain = few.assign(price=[1000.0, 900.5], comma=[1.0, 2.5])
    np.testing.assert_array_equal(post.log_density(few), post.log_density(plain))
    with pytest.raises(ValueError, match=r"column 'price' of X has '€5' in row 0"):
        post.log_density(frame.iloc[:1].assign(price="€5"))


def test_how_numbers_are_written_is_kept_with_a_run(tmp_path):
    frame = FRAME[["real", "price", "id"]]
    options = {"draws": 5, "warmup": 5, "chains": 1, "seed": 1, "progress": False}
    post = mw.sample(mw.Mixture(choose(frame).likelihood), frame, **options)
    post.save(tmp_path / "run")
    again = mw.load(tmp_path / "run")
    np.testing.assert_array_equal(again.log_density(frame), post.log_density(frame))


def test_constants_and_combinations_are_named_through_an_open_product():
    frame = FRAME[["real", "large"]].assign(
        sum=lambda t: t["real"] + t["large"] / 999, name=FRAME["name"]
    )
    model = mw.Mixture(choose(frame).likelihood)
    with pytest.warns(
        UserWarning, match=r"^column 'sum' is a combination of others: it says .*$"
    ) as said:
        mw.sample(model, frame, draws=2, warmup=2, chains=1, seed=1, progress=False)
    assert len(said) == 1


def test_a_table_that_may_be_transposed_is_told():
    levels = np.array([[170.0], [70.0], [40.0], [80.0]])
    table = pd.DataFrame(levels + 10 * RNG.normal(size=(4, 30))).add_prefix("item ")
    table.insert(0, "variable", ["height", "weight", "age", "pulse"])
    with pytest.warns(UserWarning, match=r"table has 4 rows and 31 columns.* transpose"):
        choose(table)
    choose(table.iloc[:, :15])  # warnings are errors here
    choose(table.iloc[:, 1:])
    choose(table.set_index("variable").T.reset_index())


@pytest.mark.parametrize("standardized", [False, True])
def test_few_samples_of_many_genes_are_not_transposed(standardized):
    levels = RNG.gamma(0.5, 1000, size=300)
    counts = RNG.poisson(levels * RNG.uniform(0.5, 2, size=(12, 1))).astype(float)
    counts += RNG.normal(size=counts.shape) / 10
    if standardized:
        counts = (counts - counts.mean(axis=0)) / counts.std(axis=0)
    table = pd.DataFrame(counts).add_prefix("gene ")
    table.insert(0, "sample", [f"S{k}" for k in range(12)])
    choose(table)  # warnings are errors here


def test_slips_in_written_numbers_are_named():
    values = [f"{k},5" for k in range(N)]
    values[4] = "4.5"
    with pytest.raises(
        ValueError, match=r"numbers written with decimal commas, but '4\.5' in row 4"
    ):
        choose(pd.DataFrame({"a": values}))


PENGUINS = pd.DataFrame(
    {
        "species": np.repeat(["Adelie", "Gentoo", "Chinstrap"], 10),
        "bill": np.round(RNG.normal(44, 5, 30), 1),
        "mass": RNG.integers(54, 120, 30) * 50,
        "sex": [None, *RNG.choice(["MALE", "FEMALE"], 29)],
        "rowid": range(1, 31),
    }
)
TITANIC = pd.DataFrame(
    {
        "PassengerId": range(1, 31),
        "survived": np.arange(30) // 4 % 2,
        "pclass": 1 + np.arange(30) // 2 % 3,
        "name": [f"Mr. {k}" for k in range(30)],
        "age": [np.nan, *RNG.integers(1, 80, 29)],
        "sibsp": np.minimum(RNG.poisson(1.5, 30) + np.arange(30) % 7, 8),
        "fare": np.round(RNG.gamma(2, 20, 30), 4),
        "class": [("First", "Second", "Third")[k // 2 % 3] for k in range(30)],
        "alive": [("no", "yes")[k // 4 % 2] for k in range(30)],
        "boat day": "1912-04-15",
    }
)
MPG = pd.DataFrame(
    {
        "mpg": np.round(RNG.normal(23, 7, 30), 1),
        "cylinders": RNG.choice([4, 6, 8], 30),
        "weight": [f"{w:,}" for w in RNG.integers(1600, 5000, 30)],
        "model_year": RNG.integers(70, 83, 30),
        "origin": RNG.choice(["usa", "japan", "europe"], 30),
        "name": [f"ford {k // 2 * 2 if k < 4 else k}" for k in range(30)],
    }
)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            PENGUINS,
            """\
sex: Bernoulli (two values)
species: Categorical (text with 3 categories)
bill: Gaussian with 1 more (numbers)
mass: Gaussian with 1 more (numbers)
rowid: left out (it numbers the rows)""",
        ),
        (
            TITANIC,
            """\
survived: Bernoulli (two values)
pclass: Categorical (whole numbers with 3 values)
sibsp: Poisson (counts)
age: Gaussian with 1 more (numbers, 1 missing)
fare: Gaussian with 1 more (numbers)
PassengerId: left out (it numbers the rows)
name: left out (an identifier: text of which nearly every entry differs)
class: left out ('pclass' in other words)
alive: left out ('survived' in other words)
boat day: left out (one value only)""",
        ),
        (
            MPG,
            """\
cylinders: Categorical with 1 more (whole numbers with 3 values)
origin: Categorical with 1 more (text with 3 categories)
mpg: Gaussian with 2 more (numbers)
weight: Gaussian with 2 more (numbers written with thousands separators)
model_year: Gaussian with 2 more (numbers)
name: left out (an identifier: text of which nearly every entry differs)""",
        ),
    ],
    ids=["penguins", "titanic", "mpg"],
)
def test_tables_as_people_have_them(table, expected):
    chosen = choose(table)
    assert chosen.explain() == expected
    with pytest.warns(UserWarning, match="columns left out"):
        assert mw.Product.from_frame(table).explain() == expected
    chosen.likelihood.fitted_to(table)


def test_explaining_without_a_product():
    assert choose(FRAME[["real", "large"]]).explain().splitlines() == [
        "real: AutoGaussian with 1 more (numbers)",
        "large: AutoGaussian with 1 more (numbers)",
    ]


def test_counts_that_vary_more_are_negative_binomial():
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "visits": rng.negative_binomial(1, 0.15, 200),
            "groups": rng.poisson(np.repeat([2.0, 12.0], 100)),
        }
    )
    chosen = mw.choose(table)
    assert [one.kind for one in chosen.columns] == ["overdispersed counts", "counts"]
    assert isinstance(chosen.likelihood.parts["visits"], mw.NegativeBinomial)
    assert isinstance(chosen.likelihood.parts["groups"], mw.Poisson)
    alone = mw.choose(table[["visits"]])
    assert alone.likelihood == mw.NegativeBinomial()
    assert alone.why == "all columns are overdispersed counts"
    assert "vary more than a few Poisson distributions" in alone.explain()


@pytest.mark.parametrize("clusters", [1, 2, 4])
def test_clusters_of_poisson_counts_are_not_taken_for_spread(clusters):
    rng = np.random.default_rng(clusters)
    for _ in range(5):
        means = rng.gamma(1.0, 8.0, clusters)
        counts = rng.poisson(means[rng.integers(clusters, size=300)])
        kinds = {
            one.kind for one in mw.choose(pd.DataFrame({"n": counts, "m": counts % 7})).columns
        }
        assert "overdispersed counts" not in kinds


def test_a_table_without_columns_is_called_empty():
    with pytest.raises(ValueError, match=r"^table is empty; it needs at least one"):
        mw.choose(pd.DataFrame())
