"""END CONVERSATION WITH CLEANUP of every conversation that there is, one by one: what it leaves behind."""

import uuid
from collections.abc import Callable

import pytest
from runtime.broker import Pair, Session

Dialog = tuple[uuid.UUID, uuid.UUID]


def open_(session: Session, near: uuid.UUID, far: uuid.UUID) -> None:
    pass


def ended_at_the_target(session: Session, near: uuid.UUID, far: uuid.UUID) -> None:
    session.end(far)


def ended_at_the_initiator(session: Session, near: uuid.UUID, far: uuid.UUID) -> None:
    session.end(near)


def ended_at_both(session: Session, near: uuid.UUID, far: uuid.UUID) -> None:
    session.end(near)
    session.end(far)


def ended_with_an_error(session: Session, near: uuid.UUID, far: uuid.UUID) -> None:
    session.end(far, error=5, description="no")


@pytest.mark.parametrize("target_first", [False, True], ids=["the initiator first", "the target first"])
@pytest.mark.parametrize(
    "before", [open_, ended_at_the_target, ended_at_the_initiator, ended_at_both, ended_with_an_error]
)
def test_no_row_is_left(
    session: Session, pair: Pair, before: Callable[[Session, uuid.UUID, uuid.UUID], None], target_first: bool
) -> None:
    near, far = pair.conversing()
    before(session, near, far)
    session.commit()
    for handle in (far, near) if target_first else (near, far):
        if session.state(handle) is not None:
            session.end(handle, cleanup=True)
            session.commit()
    assert (
        session.rows(
            "SELECT conversation_handle FROM ssb.conversation_endpoint WHERE conversation_handle IN (%s, %s)",
            near,
            far,
        )
        == []
    )


def test_a_far_side_whose_group_is_held_is_left_to_the_daemon(
    session: Session, another: Callable[[], Session], pair: Pair
) -> None:
    """It is not waited for: the row is shown no more, and goes when it is due."""
    near, far = pair.conversing()
    session.end(far)
    session.end(far, cleanup=True)
    session.commit()
    holder = another()
    holder.do("SELECT FROM ssb.conversation_endpoint WHERE conversation_handle = %s FOR UPDATE", far)
    session.end(near, cleanup=True)
    session.commit()
    holder.rollback()
    assert session.rows(
        "SELECT is_cleaned_up, due_at IS NOT NULL FROM ssb.conversation_endpoint"
        " WHERE conversation_handle = %s",
        far,
    ) == [(True, True)]
    assert session.state(far) is None


def test_rows_that_are_shown_no_more_are_those_without_a_state(session: Session) -> None:
    """sys.conversation_endpoints tells them by the row: closed, known, of an initiator or cleaned up."""
    for before in (open_, ended_at_the_target, ended_at_the_initiator, ended_at_both, ended_with_an_error):
        for cleaned in (False, True):
            near, far = Pair(session).conversing()
            before(session, near, far)
            if cleaned:
                session.end(far, cleanup=True)
    shown = session.rows("SELECT conversation_handle, state FROM sys.conversation_endpoints ORDER BY 1")
    stated = session.rows(
        "SELECT e.conversation_handle, s FROM ssb.conversation_endpoint AS e"
        " CROSS JOIN LATERAL ssb_internal.endpoint_state(e) AS s WHERE s IS NOT NULL ORDER BY 1"
    )
    assert shown == stated
    assert {state for _, state in shown} >= {"CO", "DI", "CD", "ER"}
