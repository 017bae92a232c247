"""Objects of Service Broker: the statements that bring an old one to what a new one says.

Each function takes the old and the new CREATE (with ALTERs taken in) and gives statements, [] for no
difference, or None where nothing changes the object in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..compiler import nodes
from .shapes import shape_of
from .writing import execute_as, identifier, on_off, qualified, string, validation

Statements = list[str] | None


def message_type(old: nodes.CreateMessageType, new: nodes.CreateMessageType) -> Statements:
    """``ALTER MESSAGE TYPE … VALIDATION``: for what is sent from then on."""
    if validation(old).lower() == validation(new).lower():
        return []
    return [f"ALTER MESSAGE TYPE {identifier(new.name.text)} VALIDATION = {validation(new)}"]


def contract(old: nodes.CreateContract, new: nodes.CreateContract) -> Statements:
    """Nothing changes a contract: what both sides of open dialogs agreed on stays."""
    said = [{(one.message_type.text, one.sent_by) for one in each.messages} for each in (old, new)]
    return [] if said[0] == said[1] else None


def queue(old: nodes.CreateQueue, new: nodes.CreateQueue) -> Statements:
    """``ALTER QUEUE`` with the options that differ; the messages stay."""
    empty = nodes.QueueOptions(span=new.span)
    before, after = old.options or empty, new.options or empty
    options = [
        f"{name} = {on_off(value)}"
        for name, value, was in (
            ("STATUS", after.status is not False, before.status is not False),
            ("RETENTION", bool(after.retention), bool(before.retention)),
        )
        if value != was
    ]
    options += _activation(before.activation, after.activation)
    options += _poison(before.poison, after.poison)
    return [f"ALTER QUEUE {qualified(new.name)} WITH {', '.join(options)}"] if options else []


def _activation(old: nodes.Activation | None, new: nodes.Activation | None) -> list[str]:
    old = None if old is not None and old.drop else old
    if new is None or new.drop:
        return [] if old is None else ["ACTIVATION (DROP)"]
    said = [_activation_options(one) for one in (old, new)]
    differing = [f"{name} = {value}" for name, value in said[1].items() if said[0].get(name) != value]
    return [f"ACTIVATION ({', '.join(differing)})".replace("EXECUTE AS = ", "")] if differing else []


def _activation_options(one: nodes.Activation | None) -> dict[str, str]:
    if one is None:
        return {}
    options = {"STATUS": on_off(one.status is not False)}
    if one.procedure is not None:
        options["PROCEDURE_NAME"] = qualified(one.procedure)
    if one.program is not None:
        options["PROGRAM"] = string(one.program.value)
    if one.max_queue_readers is not None:
        options["MAX_QUEUE_READERS"] = str(one.max_queue_readers)
    if one.execute_as is not None:
        options["EXECUTE AS"] = execute_as(one.execute_as)
    return options


def _poison(old: nodes.PoisonMessageHandling | None, new: nodes.PoisonMessageHandling | None) -> list[str]:
    said = [_poison_options(one) for one in (old, new)]
    differing = [f"{name} = {value}" for name, value in said[1].items() if said[0][name] != value]
    return [f"POISON_MESSAGE_HANDLING ({', '.join(differing)})"] if differing else []


def _poison_options(one: nodes.PoisonMessageHandling | None) -> dict[str, str]:
    return {
        "STATUS": on_off(one is None or one.status is not False),
        "MAX_ROLLBACKS": str(one.max_rollbacks if one and one.max_rollbacks is not None else 5),
        "QUARANTINE": on_off(bool(one and one.quarantine)),
    }


def service(old: nodes.CreateService, new: nodes.CreateService) -> Statements:
    """``ALTER SERVICE``: the queue for what comes from then on, and the contracts of new dialogs."""
    name, statements = identifier(new.name.text), []
    if shape_of(old.queue) != shape_of(new.queue):
        statements.append(f"ALTER SERVICE {name} ON QUEUE {qualified(new.queue)}")
    before, after = ([one.text for one in each.contracts] for each in (old, new))
    changes = [f"ADD CONTRACT {identifier(one)}" for one in after if one not in before]
    changes += [f"DROP CONTRACT {identifier(one)}" for one in before if one not in after]
    if changes:
        statements.append(f"ALTER SERVICE {name} ({', '.join(changes)})")
    return statements


def priority(old: nodes.CreateBrokerPriority, new: nodes.CreateBrokerPriority) -> Statements:
    """``ALTER BROKER PRIORITY`` with all four parts, where it stays that of the same dialogs.

    Else another may have been for those that it is for now.
    """
    said = [_priority_options(one.options) for one in (old, new)]
    if said[0] == said[1]:
        return []
    if said[0].rpartition(",")[0] != said[1].rpartition(",")[0]:
        return None
    return [f"ALTER BROKER PRIORITY {identifier(new.name.text)} FOR CONVERSATION SET ({said[1]})"]


def _priority_options(one: nodes.PriorityOptions | None) -> str:
    names = (one.contract, one.local_service) if one else (None, None)
    contract_name, local = (identifier(name.text) if name else "ANY" for name in names)
    remote = string(one.remote_service.value) if one and one.remote_service else "ANY"
    level = str(one.level) if one and one.level is not None else "DEFAULT"
    return (
        f"CONTRACT_NAME = {contract_name}, LOCAL_SERVICE_NAME = {local}, "
        f"REMOTE_SERVICE_NAME = {remote}, PRIORITY_LEVEL = {level}"
    )


def binding(old: nodes.CreateRemoteServiceBinding, new: nodes.CreateRemoteServiceBinding) -> Statements:
    """``ALTER REMOTE SERVICE BINDING``, where the service stays the same."""
    if old.service.value != new.service.value:
        return None
    said = [
        f"USER = {identifier(one.user.text)}, ANONYMOUS = {on_off(bool(one.anonymous))}" for one in (old, new)
    ]
    if said[0] == said[1]:
        return []
    return [f"ALTER REMOTE SERVICE BINDING {identifier(new.name.text)} WITH {said[1]}"]


COMPARED: dict[str, Callable[[Any, Any], Statements]] = {
    "MESSAGE TYPE": message_type,
    "CONTRACT": contract,
    "QUEUE": queue,
    "SERVICE": service,
    "BROKER PRIORITY": priority,
    "REMOTE SERVICE BINDING": binding,
}
