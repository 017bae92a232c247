"""What a session in WAITFOR waits for has SQL Server's name."""

import threading
from collections.abc import Callable

from activation import until
from support import Connection


def test_a_waitfor_is_broker_receive_waitfor(sql: Connection, connect: Callable[..., Connection]) -> None:
    waiting = connect()
    ended = threading.Event()

    def wait() -> None:
        waiting.execute(
            "CALL ssb.wait_for_message('dbo.to_queue', clock_timestamp() + interval '20 seconds',"
            " NULL, NULL, true)"
        )
        ended.set()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        asked = "SELECT wait_type FROM sys.dm_os_waiting_tasks WHERE session_id = %s"
        until(
            lambda: sql.execute(asked, [waiting.info.backend_pid]).fetchone() == ("BROKER_RECEIVE_WAITFOR",)
        )
    finally:
        sql.execute("SELECT ssb.send(ssb.begin_dialog('//From', '//To'), body => 'x'::bytea)")
        thread.join()
    assert ended.is_set()
