"""What every folder may use: checks of arguments, seeds, threads, memory, labels, types."""

from mixwood._support.interpreters import refuse_subinterpreters

refuse_subinterpreters()  # here, since nothing of the package is imported before
