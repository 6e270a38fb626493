"""`python -m mixwood` is the command `mixwood`."""

from mixwood.cli import app

if __name__ == "__main__":
    app(prog_name="mixwood")
