"""`mixwood fit`: from a file to a run folder with a report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixwood._support.numbers import count
from mixwood.cli import options
from mixwood.cli.names import LIKELIHOODS, PRIORS, SCALES, completion, lookup
from mixwood.readers import FORMATS, read

if TYPE_CHECKING:
    from mixwood.cli.columns import Selection
    from mixwood.model import Mixture
    from mixwood.readers import Loaded
    from mixwood.report import About

__all__ = ["fit"]

#: Of more columns than this, not each gets a line.
_MOST_EXPLAINED = 40


def fit(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="CSV, TSV, Excel, Parquet, .npy, .npz, Matrix Market or UCI docword, plain or "
            "gzipped; - reads a table of text from standard input.",
        ),
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option(help="Columns to cluster: names, patterns or numbers, with commas between."),
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Columns to leave out.")] = None,
    label: Annotated[
        str | None, typer.Option(help="A column of known labels, only compared with.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="A column of groups (patients, batches, time windows): clusters are shared, their "
            "shares are each group's own. Needs the prior finite, which is then the default."
        ),
    ] = None,
    likelihood: Annotated[
        str | None,
        typer.Option(
            callback=lookup(LIKELIHOODS, "likelihood"),
            autocompletion=completion(LIKELIHOODS),
            help=f"One of {', '.join(LIKELIHOODS)}; chosen by the data by default.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="The column that clusters of --likelihood regression explain by the others; the "
            "last by default."
        ),
    ] = None,
    exposure: Annotated[
        str | None,
        typer.Option(
            help="A column that counts are in proportion to, such as a time or a library size; "
            "with --likelihood poisson or negative-binomial."
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            callback=lookup(SCALES, "scale"),
            autocompletion=completion(SCALES),
            help=f"How wide Gaussian clusters are expected to be: {', '.join(SCALES)}; learned "
            "by default.",
        ),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            callback=lookup(PRIORS, "prior"),
            autocompletion=completion(PRIORS),
            help=f"One of {', '.join(PRIORS)}; nggp by default.",
        ),
    ] = None,
    sampler: options.Sampler = "tree",
    draws: options.Draws = 1000,
    warmup: options.Warmup = 500,
    chains: options.Chains = 4,
    thin: options.Thin = 1,
    seed: options.Seed = None,
    init: options.Start = "ibhc",
    max_seconds: options.Seconds = None,
    until_agree: options.UntilAgree = False,
    jobs: options.Jobs = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The run folder; the file's name with -run by default.",
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Write the cluster of each row also to this CSV file; labels.csv of the run "
            "folder has it in any case.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the run in the folder.")] = False,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            callback=lookup({name: name for name in FORMATS}, "format"),
            autocompletion=completion(FORMATS),
            help=f"The file's format, if its name does not tell: {', '.join(FORMATS)}.",
        ),
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line names the columns; told by itself by default.",
            show_default=False,
        ),
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(help="A file that names the columns of a matrix, one name per line."),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    no_report: options.NoReport = False,
    debug: options.Debug = False,
) -> None:
    """Cluster the rows of a file; write draws, log and report to a folder."""
    from mixwood.cli.messages import ending_at_once, plain_errors, warnings_to

    with plain_errors(debug):
        import mixwood
        from mixwood.cli.columns import select
        from mixwood.cli.folder import RunFolder
        from mixwood.cli.labels import check_labels_file
        from mixwood.cli.running import OutputOptions, run_command
        from mixwood.sampling.progress import say as show_progress

        destination = _target(output, file, force)
        if labels is not None:
            check_labels_file(labels, file)
        if not quiet:
            show_progress(f"reading {'standard input' if file == '-' else file}")
        with ending_at_once():  # nothing is kept yet
            loaded = read(file, format_, header, words)
        remarks: list[str] = []
        with warnings_to(remarks.append):
            selection = select(loaded, columns or [], exclude or [], label, group)
            wanted = prior or ("NGGP" if group is None else "FiniteMixture")
            roles = {"target": target, "exposure": exposure}
            model, values, why = _model(selection, loaded.source, likelihood, scale, wanted, roles)
            in_groups = _groups(selection, model, loaded.source, group)
        chosen_sampler = getattr(mixwood, sampler)()
        folder = RunFolder(destination, quiet)
        store = folder.begin(_about(loaded, why, selection), replace=force)
        for line in (_introduction(loaded.source, values, model, why, selection), *remarks):
            folder.note(line)
        run_command(
            lambda: mixwood.sample(
                model,
                values,
                sampler=chosen_sampler,
                draws=draws,
                warmup=warmup,
                chains=chains,
                seed=seed,
                init=init,
                thin=thin,
                max_seconds=max_seconds,
                n_jobs=jobs,
                store=store,
                progress=not quiet,
                until="agree" if until_agree else None,
                groups=in_groups,
            ),
            folder,
            OutputOptions(json, quiet, not no_report, labels),
        )


def _target(output: Path | None, file: str, force: bool) -> Path:
    """Return where to write, or raise before anything else is done."""
    from mixwood.cli.folder import RunFolder, free_folder
    from mixwood.cli.messages import InputError
    from mixwood.store.folders import check_destination

    if output is None:
        name = "stdin" if file == "-" else PurePath(file).name.removesuffix(".gz")
        stem = name.rsplit(".", 1)[0] or name
        return free_folder(Path(f"{stem}-run"))
    if check_destination(output, overwrite=True):
        if not force:
            raise InputError(
                f"{output} holds a mixwood run already; give another --output, or --force to "
                "replace it"
            )
        others = RunFolder(output, quiet=True).other_files()
        if others:
            raise InputError(
                f"{output} holds other files besides the run ({others[0]}), which --force would "
                "not touch; move them, or give another --output"
            )
    return output


def _model(
    selection: Selection,
    source: str,
    likelihood: str | None,
    scale: str | None,
    prior: str,
    roles: dict[str, str | None],
) -> tuple[Mixture, Any, str]:
    """Return the model, the data as it takes them, and why it has this likelihood."""
    import mixwood
    from mixwood.cli.choosing import chosen, named
    from mixwood.cli.messages import InputError

    leave_out = not selection.named
    columns = {argument: name for argument, name in roles.items() if name is not None}
    if likelihood is None and columns:
        raise InputError(f"--{next(iter(columns))} needs a --likelihood that has one")
    if likelihood is None:
        values, found, why = chosen(selection.values, source, leave_out=leave_out, scale=scale)
    else:
        values, found, why = named(
            likelihood,
            selection.values,
            source,
            leave_out=leave_out,
            scale=scale,
            columns=columns,
        )
    found.check(values, name=source)  # so that messages name the file
    return mixwood.Mixture(found, getattr(mixwood, prior)()), values, why


def _groups(selection: Selection, model: Mixture, source: str, column: str | None) -> Any:
    """Return the groups of the rows, or raise before a folder is made."""
    if column is None:
        return None
    from mixwood.input.groups import checked_groups

    found = checked_groups(
        selection.groups, len(selection.values), argument=f"{source}, column {column!r},"
    )
    model.prior.for_groups(len(found))  # or it says what is wrong
    return selection.groups


def _about(loaded: Loaded, why: str, selection: Selection) -> About:
    from mixwood.cli.labels import identifiers
    from mixwood.report import About

    return About(
        source=PurePath(loaded.source).name,
        why=why,
        known=selection.known,
        words=None if selection.words is None else list(selection.words),
        left_out=selection.left_out,
        command=shlex.join(["mixwood", *sys.argv[1:]]),
        identifiers=identifiers(loaded, selection),
    )


def _explained(model: Mixture, selection: Selection) -> list[str]:
    """Return a line per column; of many, only those that are left out."""
    from mixwood.likelihoods.choose import explain_columns

    lines = [f"  {line}" for line in explain_columns(model.likelihood, selection.columns)]
    if len(lines) <= _MOST_EXPLAINED:
        return lines
    unused = lines[len(lines) - len(selection.left_out) :]
    told = unused[:_MOST_EXPLAINED]
    more = len(unused) - len(told)
    return told + ([f"  and {more:,} more columns left out"] if more else [])


def _introduction(source: str, values: Any, model: Mixture, why: str, selection: Selection) -> str:
    """Return what is about to be done, and why."""
    rows, columns = values.shape
    lines = [
        f"{source}: {count('row', rows)}, {count('column', columns)}; likelihood "
        f"{type(model.likelihood).__name__} ({why}), prior {type(model.prior).__name__}"
    ]
    lines += _explained(model, selection)
    if selection.hint is not None:
        lines.append(selection.hint)
    return "\n".join(lines)
