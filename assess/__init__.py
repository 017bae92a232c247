"""A first look at an application's scripts: what runs, what differs, what is refused, and the effort.

project.py    folders, SSDT projects and files → scripts, in an order in which they can be compiled
inventory.py  scripts → the objects that they make, and names and texts that mean something else here
findings.py   objects and the compiler's problems → an assessment
report.py     an assessment → HTML or JSON
"""
