"""pgsb completion: the script that teaches a shell to complete our words."""

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print a completion script for SHELL.

    \b
    bash: eval "$(pgsb completion bash)"        in ~/.bashrc
    zsh:  eval "$(pgsb completion zsh)"         in ~/.zshrc
    fish: pgsb completion fish > ~/.config/fish/completions/pgsb.fish
    """
    from .main import commands

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(commands, {}, "pgsb", "_PGSB_COMPLETE").source())
