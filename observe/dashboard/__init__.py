"""The web page for operators: Starlette and Jinja templates, every asset our own, nothing from a network.

- options.py: what it is told, and which instances it shows.
- database.py: connections with limits, and what is remembered for all who look.
- queries.py: what the pages ask.
- app.py: routes, and what every request goes through: hosts, login, headers.
- access.py: who is asking, and whether he may change things.
- pages.py: pages that show; changes.py: forms that change.
- charts.py, sequence.py, map.py, bodies.py: drawings as SVG, bodies for people.
"""
