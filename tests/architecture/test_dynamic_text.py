"""What the runtime executes as text: names by %I, values by %L or USING; all else is listed, with its reason."""
# ruff: noqa: E501 (the listed expressions are as they stand)

from __future__ import annotations

import re
from pathlib import Path

import pytest
from architecture.dynamic_text import insertions

from pgsb import runtime_sql

ROOT = Path(runtime_sql.__file__).parent

QUOTED = "quoted where it is made, in the same function or in the row that it comes from"
CONSTANT = "one of several constants, or a number"
CALLERS = "a name as SQL writes it, which its caller executes with his own rights"
CODE = "code by its nature: who says it, and for whom it is run, is checked"

KNOWN = {
    "DO 1": {
        "v_table.updates": CONSTANT,
        "v_view.barrier": CONSTANT,
        "v_view.found": CONSTANT,
        "v_number": CONSTANT,
    },
    "ssb_internal.make_statement": {
        "v_arguments": "the arguments of the runtime's own functions, as the server writes them",
        "v_passed": QUOTED,
    },
    "ssb_internal.drop_staging": {"v_table": QUOTED},
    "ssb_internal.drop_update_notes": {"v_older.wanted": QUOTED},
    "ssb_internal.create_staging": {"v_columns": QUOTED},
    "ssb_internal.complete_claim": {"v_output.staging": QUOTED},
    "ssb_internal.of_database": {"pg_typeof(p_view)": "a regtype"},
    "ssb_internal.judge_message": {"v_queue.order_sequence": "a regclass"},
    "ssb_internal.refresh_queue": {"v_queue.state_sequence": "a regclass"},
    "ssb_internal.drop_sequences": {
        "p_queue.state_sequence": "a regclass",
        "p_queue.order_sequence": "a regclass",
    },
    "ssb_internal.is_mostly_dead": {"v_sample": CONSTANT},
    "ssb_internal.traffic": {
        "CASE WHEN v_part < 100 THEN format('TABLESAMPLE SYSTEM (%s)', v_part) END": CONSTANT
    },
    "ssb_internal.mirror_receive_grants": {"v_object": QUOTED, "v_role": QUOTED},
    "ssb_internal.revoke_from_others": {"v_object": QUOTED, "v_role": QUOTED},
    "sys.advance_identity": {"target": CALLERS},
    "ssb_internal.insert_captured": {
        "target": CALLERS,
        "(SELECT string_agg(quote_ident(c), ', ' ORDER BY n) FROM unnest(v_columns) WITH ORDINALITY AS u(c, n))": QUOTED,
        "(SELECT string_agg(ssb_internal.captured_cell(format('r -> %s', u.n - 1), a.atttypid, a.atttypmod,": QUOTED,
    },
    "ssb_internal.drop_relation": {"p_kind": CALLERS, "p_name": CALLERS},
    "ssb_internal.define_row_type": {"p_name": CALLERS, "p_columns": CALLERS},
    "ssb_internal.create_synonym": {
        "p_name": CALLERS,
        "CASE WHEN ssb_internal.is_queue(to_regclass(p_target)) THEN format(' ssb_internal.refuse_synonym(%L)'": CALLERS,
    },
    "ssb_internal.change_database_owner": {"v_grant.privilege_type": CONSTANT, "v_grant.grantee": QUOTED},
    "ssb_internal.restore_noted_module": {
        "v_new.kind": CONSTANT,
        "v_new.shown": QUOTED,
        "(v_item ->> 'text')": "what PostgreSQL says of a trigger, noted by the statement before",
    },
    "ssb_internal.grant_as_before": {
        "v_columns": QUOTED,
        "p_kind": CONSTANT,
        "p_shown": QUOTED,
        "v_grant.privilege_type": CONSTANT,
        "v_grant.grantee": QUOTED,
    },
    "ssb_internal.drop_synonym": {"p_name": CALLERS},
    "ssb_internal.loosen_synonyms": {
        "(SELECT string_agg(format('NULL::%s AS %I', format_type(a.atttypid, a.atttypmod), a.attname)": QUOTED
    },
    "ssb_internal.empty_view": {
        "(SELECT string_agg(format('CASE WHEN f.n IS NULL THEN %1$s ELSE %1$s END AS %2$I',": QUOTED,
    },
    "ssb_internal.bind_view": {
        "p_name": QUOTED,
        "p_text": "what PostgreSQL said of a view, noted as it let go",
    },
    "ssb_internal.prepare_trigger": {"p_table": CALLERS},
    "ssb_internal.enable_trigger": {"p_table": CALLERS},
    "ssb_internal.rename_object": {
        "v_owner": QUOTED,
        "v_module": QUOTED,
        "'', c.conrelid": "an oid that is read",
    },
    "ssb_internal.drop_temporary_tables": {"v_table": CALLERS},
    "ssb_internal.transfer_object": {"p_name": CALLERS},
    "ssb_internal.run_batches": {"v_statement": CODE},
    "ssb_internal.execute_text": {"v_statement": CODE},
    "ssb_internal.switch_constraints": {"v_rule.kept": CODE},
    "sys.leave_out_duplicate": {"v_key": QUOTED, "v_same": QUOTED},
    "sys.keep_history": {"TG_ARGV[2]": QUOTED, "v_names": QUOTED, "v_values": QUOTED},
    "ssb_internal.start_versioning": {"v_history": QUOTED, "v_keeper": QUOTED},
    "ssb_internal.follow_table": {"v_column.type": QUOTED, "' DEFAULT ' || v_column.value": QUOTED},
    "ssb_internal.row_versions": {"v_wanted": QUOTED, "v_period.history": "a regclass"},
    "ssb_internal.create_instead": {
        "p_event": CALLERS,
        "v_when": QUOTED,
        "p_rows": CALLERS,
        "p_function": CALLERS,
    },
    "ssb_internal.begin_instead": {"v_kept": CALLERS},
}


def test_text_that_is_executed_is_quoted_or_known() -> None:
    used: set[tuple[str, str]] = set()
    for path in sorted(ROOT.rglob("*.sql")):
        if path.parent.name == "migrations":
            continue
        for found in insertions(path):
            where = f"{path.relative_to(ROOT)}: {found.routine} executes {found.text}"
            known = [text for text in KNOWN.get(found.routine, {}) if found.text.startswith(text)]
            assert known, f"{where}: use %I, %L, USING or a regclass, or say in this test why not"
            used |= {(found.routine, text) for text in known}
            reason = KNOWN[found.routine][known[0]]
            assert not (found.definer and reason is CALLERS), f"{where}: with the rights of another"
    listed = {(routine, text) for routine, texts in KNOWN.items() for text in texts}
    assert listed == used


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("BEGIN EXECUTE format('DROP TABLE %I.%I', p_a, p_b); END", []),
        ("BEGIN EXECUTE format('DROP TABLE %s', p_a); END", ["p_a"]),
        ("BEGIN EXECUTE format('DROP TABLE %s', p_a::regclass); END", []),
        ("BEGIN EXECUTE format('DROP TABLE %s', p_table); END", []),
        ("BEGIN EXECUTE 'DROP TABLE ' || p_a; END", ["p_a"]),
        ("BEGIN EXECUTE 'DROP TABLE ' || quote_ident(p_a); END", []),
        ("BEGIN EXECUTE format('SELECT %s, %L', p_a, p_b) INTO v_c USING p_b; END", ["p_a"]),
        ("BEGIN EXECUTE format('SELECT %2$s, %1$L', p_a, p_b); END", ["p_b"]),
        ("BEGIN EXECUTE format('SELECT %% %s', CASE WHEN p_a THEN 'x' ELSE 'y' END); END", []),
        (
            "BEGIN EXECUTE format('SELECT %s', CASE WHEN p_a THEN 'x' ELSE p_b END); END",
            ["CASE WHEN p_a THEN 'x' ELSE p_b END"],
        ),
        ("DECLARE v_text text; BEGIN v_text := 'SELECT ' || p_a; EXECUTE v_text; END", ["p_a"]),
        ("BEGIN FOR v_x IN EXECUTE p_a LOOP END LOOP; END", ["p_a"]),
        ("BEGIN RETURN QUERY EXECUTE format('SELECT 1 FROM %s', p_a) USING p_b; END", ["p_a"]),
    ],
)
def test_what_counts_as_unquoted(tmp_path: Path, body: str, found: list[str]) -> None:
    file = tmp_path / "a.sql"
    file.write_text(
        "CREATE OR REPLACE FUNCTION ssb_internal.f(p_a text, p_b text, p_table regclass)\nRETURNS void\n"
        f"LANGUAGE plpgsql SECURITY DEFINER\nAS $$\n{body}\n$$;\n",
        encoding="utf-8",
    )
    assert [one.text for one in insertions(file)] == found
    assert all(one.definer and one.routine == "ssb_internal.f" for one in insertions(file))


# PostgreSQL reads the text of such a cast as SQL: Ann would be ann, and ann@shop.example two names.
_NAME_READ_AS_SQL = re.compile(
    r"\b(?:current_user|session_user|\w+\([^()]*\)|[vp]_\w+)::reg(?:role|namespace)\b"
)


def test_a_name_is_quoted_where_it_is_cast() -> None:
    assert _NAME_READ_AS_SQL.search("proowner = current_user::regrole")
    assert _NAME_READ_AS_SQL.search("ssb_internal.runtime_owner()::regrole")
    for path in sorted(ROOT.rglob("*.sql")):
        if "migrations" in path.parts:
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            found = _NAME_READ_AS_SQL.search(line)
            assert found is None or found[0].startswith("quote_ident("), f"{path.name}: {found and found[0]}"
