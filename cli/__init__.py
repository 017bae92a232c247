"""The command ``pgsb``: each module is one command, or a family of them."""

import signal


def program() -> None:
    """Run the command.

    While Python loads what every command needs, Ctrl-C ends the process as it ends any other: an exception
    would be told with its place in somebody's imports, or lost there. From then on `main` takes it.
    """
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Imported here: see above.
    from .main import program as run

    if is_ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()
