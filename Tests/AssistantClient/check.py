"""Asks `strata mcp` with the reference client: usage: check.py STRATA STORE COMMIT

Fails unless doctor and explain lead to COMMIT, as an assistant would find it.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def texts(answer):
    failed = getattr(answer, "is_error", None) or getattr(answer, "isError", None)
    if failed or len(answer.content) < 2:
        raise SystemExit(f"not answered: {answer}")
    return answer.content[1].text


async def main(strata, store, commit):
    server = StdioServerParameters(command=strata, args=["mcp", store])
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        await session.initialize()
        names = [tool.name for tool in (await session.list_tools()).tools]
        finding = json.loads(texts(await session.call_tool("doctor", {"kind": "overwrite"})).splitlines()[0])
        why = json.loads(texts(await session.call_tool("explain", {"offset": finding["offset"]})))
        if finding["offset"] != int(commit) or why["offset"] != int(commit) or "query" not in names:
            raise SystemExit(f"found {finding}, explained {why['offset']}, tools {names}")
        refused = await session.call_tool("doctor", {"kind": "none"})
        if not (getattr(refused, "is_error", None) or getattr(refused, "isError", None)):
            raise SystemExit("a kind that there is not was accepted")
    print(f"{len(names)} tools; doctor and explain found commit {commit}")


asyncio.run(main(*sys.argv[1:]))
