"""T-SQL nodes → PostgreSQL text.  In the order of control flow:

========================  ==========================================================================
pipeline                  compile_script, check_script: the passes; which batches become one DO block
build, build_*            Lark tree → nodes; the last files that know Lark
nodes                     typed nodes: frozen dataclasses, each with its span
check                     what is unknown, wrong, or parsed but refused
scope                     objects of the script, variables of a routine
names, type_map           T-SQL names and types → PostgreSQL's
flow_transactions         how deep @@TRANCOUNT may be before each statement
flow_types                which types batches make, and which types variables have
flow_status               which statements must leave @@ERROR and @@ROWCOUNT behind
safety                    which expressions can never raise an error
lower                     the frame of the passes: dispatch, context, the exception block of a statement
lower_batch               whole batches and modules
lower_variables           DECLARE, SET
lower_flow                IF, WHILE, TRY, RETURN, PRINT, RAISERROR, THROW
control_flow              GOTO and savepoints: labelled blocks, or a state machine
lower_transaction         BEGIN, COMMIT, ROLLBACK TRANSACTION
lower_query               SELECT, INSERT, UPDATE, DELETE, MERGE, DDL of tables
lower_cursor              cursors
lower_dialog              BEGIN DIALOG, SEND, END CONVERSATION
lower_receive             RECEIVE, WAITFOR
lower_procedure           CREATE PROCEDURE, EXEC
parameters                parameters as their declared types
lower_system_procedures   sp_executesql and its like
system_queries, …         sp_help and its like, in T-SQL
lower_module              functions, views
lower_trigger             triggers
lower_dynamic             EXEC of a string
late_text                 EXEC of a string that only the run time knows
lower_ddl, lower_drop     definitions of Service Broker objects and databases
lower_security            principals and permissions
lower_rules               CREATE RULE, CREATE DEFAULT, sp_bindrule
ordinary_sql, …           queries and expressions; the only files that know sqlglot
plpgsql                   the target tree
emit                      target tree → text; the only place that quotes
========================  ==========================================================================
"""
