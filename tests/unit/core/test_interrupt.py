"""Work of the core that is stopped: trees between two rows, chains within an iteration."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import mixwood as mw
from mixwood import _core
from mixwood.core import bind_family, make_chain
from mixwood.testing import seed_of
from mixwood.trees.build import ibhc_labels

ROWS = 60
MODEL = mw.Mixture(mw.Gaussian(r=0.1, nu=4, mean=np.zeros(2), scale=np.eye(2)))


def rows(n=ROWS):
    return np.random.default_rng(seed_of("interrupt")).normal(size=(n, 2))


def grown(X):
    return ibhc_labels(MODEL, bind_family(MODEL, X), len(X), np.random.SeedSequence(1))


def test_rows_that_are_put_in_are_counted_where_the_interrupt_is_in_force():
    interrupt, outer = _core.Interrupt(), _core.Interrupt()
    with outer:
        with interrupt:
            grown(rows())
        assert (interrupt.done, outer.done) == (ROWS, 0)
        grown(rows(7))
    grown(rows())  # no longer
    assert (interrupt.done, outer.done) == (ROWS, 7)


def test_another_thread_is_none_of_its_business():
    interrupt = _core.Interrupt()
    with interrupt:
        thread = threading.Thread(target=grown, args=(rows(),))
        thread.start()
        thread.join()
    assert interrupt.done == 0


@pytest.mark.parametrize("rule", ["balanced", "paper"])
@pytest.mark.parametrize("method", ["insert", "on_top", "agglomerate"])
def test_a_forest_stops_before_the_next_row(method, rule):
    values = MODEL.prior.start()
    forest = _core.Forest(
        bind_family(MODEL, rows()),
        MODEL.prior.kernel,
        log_u=0.0,
        log_alpha=values.log_alpha,
        sigma=values.sigma,
        theta=values.theta,
        rule=rule,
    )
    interrupt = _core.Interrupt()
    interrupt.stop()
    with interrupt, pytest.raises(_core.Interrupted, match="told to stop"):
        getattr(forest, method)(np.arange(ROWS))
    assert interrupt.done == 0


@pytest.mark.parametrize("sampler", [mw.Tree(), mw.Tree(max_leaves=9), mw.PaperTree()], ids=str)
def test_a_chain_stops_while_its_first_tree_grows(sampler):
    interrupt = _core.Interrupt()
    interrupt.stop()
    with interrupt, pytest.raises(_core.Interrupted):
        chain_under(sampler)


def chain_under(sampler):
    X = rows()
    return make_chain(MODEL, X, np.zeros(len(X), np.int32), np.random.PCG64(1), sampler)


def run(chain, draws=3):
    scalars = {name: np.empty(draws) for name in ("log_joint", "log_u", "log_alpha", "sigma")}
    labels = np.empty((draws, ROWS), np.int32)
    return chain.run(0, 1, labels, **scalars, theta=np.empty(draws), seconds=60.0)


def test_chains_made_under_one_interrupt_stop_with_it():
    interrupt = _core.Interrupt()
    with interrupt:
        chains = [chain_under(mw.Tree()) for _ in range(2)]
    other = chain_under(mw.Tree())
    chains[0].stop()
    assert [run(chain) for chain in (*chains, other)] == [0, 0, 3]
    assert chains[1].save_state()  # nothing was begun


def test_a_chain_that_was_cut_within_an_iteration_is_not_saved():
    chain = chain_under(mw.Tree(subtree_moves=10**9))
    state = chain.save_state()
    thread = threading.Thread(target=run, args=(chain,))
    thread.start()
    while chain.reports()[0]["proposed"] == 0:
        time.sleep(0.001)
    chain.stop()
    thread.join()
    assert chain.is_cut
    assert chain.iterations == 0
    with pytest.raises(RuntimeError, match="stopped within an iteration"):
        chain.save_state()
    chain.load_state(state)
    assert not chain.is_cut


def test_a_chain_stops_while_a_later_tree_grows():
    chain = chain_under(mw.Tree(1, 1, 1, rebuild=1))
    state = chain.save_state()
    run(chain, 1)  # warm-up is over, and every iteration grows a tree
    interrupt = _core.Interrupt()
    interrupt.stop()
    with interrupt, pytest.raises(_core.Interrupted):
        chain.iterate()
    whole = chain_under(mw.Tree(1, 1, 1, rebuild=1))
    whole.load_state(state)
    assert run(whole) == 3


def test_draws_do_not_depend_on_it():
    alone = chain_under(mw.Tree())
    interrupt = _core.Interrupt()
    with interrupt:
        watched = chain_under(mw.Tree())
    run(alone)
    run(watched)
    np.testing.assert_array_equal(alone.state()["labels"], watched.state()["labels"])
    assert alone.log_joint() == watched.log_joint()


@pytest.mark.usefixtures("interruptible")
def test_a_signal_comes_through_while_trees_grow_in_the_main_thread():
    X, interrupt = rows(100_000), _core.Interrupt()

    def signal_once_it_grows():
        while interrupt.done == 0:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=signal_once_it_grows)
    thread.start()
    with interrupt, pytest.raises(KeyboardInterrupt):
        grown(X)
    thread.join()
    assert interrupt.done < len(X)
