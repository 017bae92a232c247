"""What every page of the dashboard may ask about: how it was started, and the instances it shows."""

from dataclasses import dataclass

from .database import Instance
from .options import Options


@dataclass(frozen=True)
class Site:
    """The options of the command, and each instance by the name that its pages' addresses have."""

    options: Options
    instances: dict[str, Instance]
