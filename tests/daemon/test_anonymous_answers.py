"""A target answers an anonymous initiator under the key that this one has made, whatever becomes of it.

The initiator only waits: nothing of its own brings another key.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from instances import Side
from secured import begin, others_certificate, own_certificate, script

from activation import Daemon, until

pytestmark = [pytest.mark.usefixtures("keys"), pytest.mark.one_postgres]


@pytest.fixture
def anonymous(near: Side, far: Side, keys: None, tmp_path: Path) -> None:
    own_certificate(far, "Far", tmp_path)
    others_certificate(near, "Far", tmp_path)
    script(far, "GRANT SEND ON SERVICE::[//Far] TO public")
    script(near, "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'x'")
    script(near, "CREATE REMOTE SERVICE BINDING b TO SERVICE '//Far' WITH USER = FarThere, ANONYMOUS = ON")


def require_answers(near: Side, far: Side, change: Callable[[], None]) -> None:
    """The first answer comes after what has changed, and the dialog goes on."""
    handle = begin(near, "//Far")
    near.send(handle, "//Ask", "one")
    ((there, _, _),) = far.receive(1)
    until(lambda: near.waiting() == [])
    change()
    far.send(there, "//Answer", "two")
    assert near.receive(1) == [(handle, "//Answer", "two")]
    near.send(handle, "//Ask", "three")
    assert [body for _, _, body in far.receive(1)] == ["three"]
    far.send(there, "//Answer", "four")
    assert near.receive(1) == [(handle, "//Answer", "four")]


def age_keys(sides: tuple[Side, ...], days: int) -> None:
    for side in sides:
        side.do(
            "UPDATE ssb.dialog_key SET made_at = made_at - %s * interval '1 day',"
            " used_at = used_at - %s * interval '1 day'",
            *(days, days),
        )


def test_the_first_answer_may_come_days_later(
    near: Side, far: Side, anonymous: None, daemons: Callable[..., Daemon]
) -> None:
    daemons(near)
    daemons(far)
    require_answers(near, far, lambda: age_keys((near, far), 2))


@pytest.mark.long
def test_the_first_answer_may_come_weeks_later(
    near: Side, far: Side, anonymous: None, daemons: Callable[..., Daemon]
) -> None:
    daemons(near)
    daemons(far)

    def pass_on() -> None:
        age_keys((near, far), 8)
        for side in (near, far):
            side.do(
                "INSERT INTO ssb.dialog_key SELECT (jsonb_populate_record(k, jsonb_build_object('key_id',"
                " gen_random_uuid()))).* FROM ssb.dialog_key AS k"
            )
            side.do("SELECT ssb_internal.forget_remote_conversations()")
            # Those that no dialog needs have gone.
            assert side.value("SELECT count(*) FROM ssb.dialog_key") == 1

    require_answers(near, far, pass_on)


@pytest.mark.long
@pytest.mark.parametrize(
    ("at", "statement"),
    [
        ("near", "ALTER MASTER KEY REGENERATE WITH ENCRYPTION BY PASSWORD = 'y'"),
        ("far", "ALTER MASTER KEY REGENERATE WITH ENCRYPTION BY PASSWORD = 'y'"),
        (
            "far",
            "BACKUP MASTER KEY TO FILE = '{folder}/master' ENCRYPTION BY PASSWORD = 'f';"
            " RESTORE MASTER KEY FROM FILE = '{folder}/master' DECRYPTION BY PASSWORD = 'f'"
            " ENCRYPTION BY PASSWORD = 'y'",
        ),
    ],
)
def test_a_new_master_key_seals_what_answers_need(
    near: Side,
    far: Side,
    anonymous: None,
    daemons: Callable[..., Daemon],
    tmp_path: Path,
    at: str,
    statement: str,
) -> None:
    daemons(near)
    daemons(far)
    side = near if at == "near" else far
    require_answers(near, far, lambda: script(side, statement.format(folder=tmp_path)))


@pytest.mark.long
def test_a_dropped_certificates_key_answers_and_begins_nothing(
    near: Side, far: Side, anonymous: None, daemons: Callable[..., Daemon], tmp_path: Path
) -> None:
    daemons(near)
    daemons(far)

    def renew() -> None:
        # A key that no dialog has ends with its certificate.
        far.do(
            "INSERT INTO ssb.dialog_key SELECT (jsonb_populate_record(k, jsonb_build_object('key_id',"
            " gen_random_uuid()))).* FROM ssb.dialog_key AS k"
        )
        script(far, "DROP CERTIFICATE FarCert")
        assert far.value("SELECT count(*) FROM ssb.dialog_key") == 1
        # The initiator has the old one still, and its key.
        late = begin(near, "//Far")
        near.send(late, "//Ask", "late")
        until(lambda: any("too old for a new conversation" in status for status in near.waiting()))
        script(
            far,
            f"""CREATE CERTIFICATE Newer AUTHORIZATION Far WITH SUBJECT = 'newer', EXPIRY_DATE = '20501231'
            BACKUP CERTIFICATE Newer TO FILE = '{tmp_path}/newer.cer'""",
        )
        script(near, f"CREATE CERTIFICATE Newer AUTHORIZATION FarThere FROM FILE = '{tmp_path}/newer.cer'")
        assert [body for _, _, body in far.receive(1)] == ["late"]
        script(near, "DROP CERTIFICATE FarCert")

    require_answers(near, far, renew)


@pytest.mark.long
def test_a_certificate_that_comes_back_has_its_keys_again(
    near: Side, far: Side, anonymous: None, daemons: Callable[..., Daemon], tmp_path: Path
) -> None:
    daemons(near)
    daemons(far)
    files = f"'{tmp_path}/again.cer' WITH PRIVATE KEY (FILE = '{tmp_path}/again.key', "

    def lose_and_restore() -> None:
        script(far, f"BACKUP CERTIFICATE FarCert TO FILE = {files} ENCRYPTION BY PASSWORD = 'f')")
        script(far, "DROP CERTIFICATE FarCert")
        script(
            far,
            f"CREATE CERTIFICATE FarCert AUTHORIZATION Far FROM FILE = {files} DECRYPTION BY PASSWORD = 'f')",
        )
        another = begin(near, "//Far")
        near.send(another, "//Ask", "another")
        assert [body for _, _, body in far.receive(1)] == ["another"]

    require_answers(near, far, lose_and_restore)


@pytest.mark.long
def test_the_key_of_the_last_message_that_was_taken_answers_though_a_newer_one_was_sent_with(
    near: Side, far: Side, anonymous: None, daemons: Callable[..., Daemon]
) -> None:
    first = daemons(near)
    daemons(far)
    handle = begin(near, "//Far")
    near.send(handle, "//Ask", "one")
    ((there, _, _),) = far.receive(1)
    until(lambda: near.waiting() == [])
    far.do("SELECT ssb.alter_queue('dbo.far_queue', status => false)")
    first.broker.stop()  # it has the key in its memory
    age_keys((near, far), 1)
    near.do("UPDATE ssb.conversation_endpoint SET started_at = started_at - interval '1 day'")
    near.send(handle, "//Ask", "two")
    daemons(near)
    until(
        lambda: near.value(
            "SELECT r.outbound_key_id <> k.key_id FROM ssb.remote_conversation AS r, ssb.dialog_key AS k"
            " ORDER BY k.made_at LIMIT 1"
        )
    )
    script(near, "ALTER MASTER KEY REGENERATE WITH ENCRYPTION BY PASSWORD = 'y'")
    far.send(there, "//Answer", "three")
    assert near.receive(1) == [(handle, "//Answer", "three")]
    far.do("SELECT ssb.alter_queue('dbo.far_queue', status => true)")
    assert [body for _, _, body in far.receive(1)] == ["two"]
