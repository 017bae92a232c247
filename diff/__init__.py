"""From the definitions of old scripts to those of new ones: the statements between.

============  ======================================================================================
shapes        what a node says, without places, comments and spelling that T-SQL does not tell apart
definitions   scripts → what they define in the end: CREATE with the ALTERs behind it
writing       names and options → T-SQL
broker        message types, contracts, queues, services, routes, priorities, bindings
tables        tables and their columns
compare       old and new → statements in an order that runs, and what cannot be done in place
============  ======================================================================================
"""
