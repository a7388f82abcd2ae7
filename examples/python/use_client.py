"""Reads, writes and is refused, through the module that generate_client.py wrote as my_tools.py beside this one.

    python3 use_client.py http://127.0.0.1:7345 "$TOKEN"
"""
import sys

from my_tools import CallFailed, Tools

address, token = sys.argv[1:3]
with Tools(address, token) as tools:
    tools.file_write(path="from-python.txt", content="hello from Python\n")
    print(tools.file_read(path="from-python.txt")["content"].strip())
    try:
        tools.file_read(path="/etc/passwd")
    except CallFailed as refusal:
        print(refusal.errors[0]["code"], refusal.errors[0]["details"]["retry"])
