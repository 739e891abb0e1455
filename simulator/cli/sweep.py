import click


@click.command()
def sweep() -> None:
    """x"""
