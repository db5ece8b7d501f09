#!/usr/bin/env python3
"""A whole daemon in one file: Python's standard library and `websockets` (Debian: apt install python3-websockets).

    RELAY_SERVER=… RELAY_DEVICE_ID=… RELAY_REFRESH_TOKEN=… python3 examples/minimal-daemon-python/daemon.py

Replace `answer` by your own agent. The history is kept in memory: it is gone when the program ends.
"""
import asyncio
import inspect
import json
import os
import random
import signal
import sys
import uuid
from datetime import datetime, timezone

import websockets
from websockets.exceptions import InvalidHandshake, WebSocketException

FRAME_BYTES = 16 * 1024 * 1024
MESSAGE_BYTES = 256 * 1024
REPORT_SECONDS = 30
# Closed for good: credential refused, forbidden, device removed, replaced by another daemon.
FINAL_CODES = {4401, 4403, 4404, 4409}


def setting(name):
    value = os.environ.get(name)
    if not value:
        sys.exit(f"Set {name}.")
    return value


async def answer(message, tell):
    """The agent. `tell(event_type, **fields)` reports; the return value is the end of the task."""
    await tell("PROGRESS", action="Thinking", target="")
    if message == "fail":
        raise RuntimeError("I was asked to fail.")
    if message == "ask":
        options = [{"label": "red"}, {"label": "blue"}]
        return {"event_type": "WAIT_FOR_USER", "prompt": "Which colour?", "result": "", "options": options}
    if message == "hang":
        await asyncio.Event().wait()
    await tell("OUTPUT", output=f"Looking at {len(message)} characters.\n")
    return {"event_type": "TASK_COMPLETE", "result": f"You said: {message}"}


def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def cut(text, limit=MESSAGE_BYTES):
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


class Daemon:
    def __init__(self):
        self.sessions = {}  # session id -> list of messages
        self.running = {}  # task id -> (asyncio task, session id)
        self.seen = {}  # task ids, oldest first
        self.owed = {}  # task id -> its end, until it was written to a live socket
        self.watched = set()
        self.locks = {}  # session id -> one turn at a time
        self.socket = None

    # What the daemon says

    async def send(self, frame):
        """True when the frame was written to a live socket."""
        if self.socket is None:
            return False
        try:
            await self.socket.send(json.dumps(frame))
            return True
        except WebSocketException:
            return False

    async def status(self):
        await self.send({"type": "status", "running_tasks": list(self.running)})

    async def report(self):
        entries = [self.summary(session) | {"is_active": self.active(session)} for session in self.sessions]
        await self.send({"type": "report_sessions", "sessions": entries})

    async def activity(self, session, is_completion):
        if session in self.watched:
            summary = self.summary(session)
            await self.send({"type": "session_activity", "is_completion": is_completion} | summary)

    def active(self, session):
        return any(of == session for _, of in self.running.values())

    def summary(self, session):
        messages = self.sessions[session]
        last = messages[-1] if messages else {"content": "", "timestamp": now()}
        return {
            "session_id": session,
            "last_message": cut(last["content"], 2048),
            "last_activity": last["timestamp"],
            "message_count": len(messages),
        }

    def record(self, session, role, content):
        message = {"uuid": str(uuid.uuid4()), "role": role, "content": cut(content), "timestamp": now()}
        self.sessions[session].append(message)

    # Tasks: each gets exactly one end, except a cancelled one

    async def begin(self, task_id, session, message):
        if task_id in self.seen:
            return
        self.seen[task_id] = True
        if len(self.seen) > 10_000:
            del self.seen[next(iter(self.seen))]
        is_new = session is None
        session = session or str(uuid.uuid4())
        known = is_new or session in self.sessions
        if is_new:
            self.sessions[session] = []
        self.running[task_id] = (asyncio.create_task(self.run(task_id, session, message, known, is_new)), session)

    async def run(self, task_id, session, message, known, is_new):
        async def tell(event_type, **fields):
            event = {"type": "event", "task_id": task_id, "session_id": session, "event_type": event_type}
            await self.send(event | fields)

        await self.status()
        if is_new:
            await tell("SESSION_STARTED")
        try:
            if not known:
                raise RuntimeError("This device has no such session.")
            async with self.locks.setdefault(session, asyncio.Lock()):
                self.record(session, "USER", message)
                end = await answer(message, tell)
        except asyncio.CancelledError:
            return
        except Exception as error:  # noqa: BLE001 - whatever the agent does, the task ends
            end = {"event_type": "ERROR", "error": str(error) or type(error).__name__}
        words = end.get("result") or end.get("prompt") or end.get("error", "")
        if known:
            self.record(session, "SYSTEM" if end["event_type"] == "ERROR" else "AGENT", words)
        if "result" in end:
            end["result"] = cut(end["result"])
        frame = {"type": "event", "task_id": task_id, "session_id": session} | end
        self.running.pop(task_id, None)
        if not await self.send(frame):
            self.owed[task_id] = frame
        await self.status()
        if known:
            await self.activity(session, end["event_type"] == "TASK_COMPLETE")

    async def cancel(self, task_id):
        task, _ = self.running.pop(task_id, (None, None))
        if task:
            task.cancel()
        await self.status()

    # What the relay says

    async def receive(self, text):
        try:
            frame = json.loads(text)
            handler = self.handlers.get(frame.get("type")) if isinstance(frame, dict) else None
            if handler:
                await handler(self, frame)
        except (ValueError, KeyError, TypeError):
            pass  # no frame, or not a whole one

    async def messages(self, frame):
        session = frame["session_id"]
        reply = {"type": "messages", "request_id": frame["request_id"], "session_id": session}
        history = self.sessions.get(session)
        uuids = [message["uuid"] for message in history or []]
        before, after = frame.get("before_uuid"), frame.get("after_uuid")
        unknown = [cursor for cursor in (before, after) if cursor is not None and cursor not in uuids]
        if history is None or unknown:
            what = "cursor" if unknown else "session"
            empty = {"messages": [], "has_more": False, "oldest_uuid": None, "newest_uuid": None}
            await self.send(reply | empty | {"error": f"this device has no such {what}"})
            return
        start = uuids.index(after) + 1 if after is not None else 0
        end = uuids.index(before) if before is not None else len(uuids)
        first = max(start, end - frame.get("limit", 50))
        page = history[first:end]
        await self.send(
            reply
            | {
                "messages": page,
                "has_more": first > start,
                "oldest_uuid": page[0]["uuid"] if page else None,
                "newest_uuid": page[-1]["uuid"] if page else None,
            }
        )

    async def watch(self, frame):
        self.watched.add(frame["session_id"])

    async def unwatch(self, frame):
        self.watched.discard(frame["session_id"])

    async def pong(self, _frame):
        await self.send({"type": "pong"})

    async def start(self, frame):
        await self.begin(frame["task_id"], None, frame["instruction"])

    async def resume(self, frame):
        await self.begin(frame["task_id"], frame["session_id"], frame["message"])

    async def stop(self, frame):
        await self.cancel(frame["task_id"])

    handlers = {
        "ping": pong,
        "task_start": start,
        "task_resume": resume,
        "task_cancel": stop,
        "get_messages": messages,
        "watch_session": watch,
        "unwatch_session": unwatch,
    }

    # The connection

    async def talk(self, socket):
        self.socket = socket
        self.watched.clear()
        # Before `status`: what ended while nobody listened must not be taken for lost.
        for task_id, frame in list(self.owed.items()):
            if await self.send(frame):
                del self.owed[task_id]
        await self.status()
        await self.report()
        reporting = asyncio.create_task(self.report_always())
        try:
            async for text in socket:
                if isinstance(text, str):
                    await self.receive(text)
        finally:
            reporting.cancel()
            self.socket = None

    async def report_always(self):
        while True:
            await asyncio.sleep(REPORT_SECONDS)
            await self.report()

    async def connect_always(self):
        server = setting("RELAY_SERVER").rstrip("/")
        headers = {
            "Authorization": f"Bearer {setting('RELAY_REFRESH_TOKEN')}",
            "X-Device-ID": setting("RELAY_DEVICE_ID"),
            "X-Agent-Type": os.environ.get("RELAY_AGENT_TYPE", "minimal"),
            "X-Daemon-Version": "1.0.0",
        }
        # The parameter was renamed in version 14 of the library.
        renamed = "additional_headers" in inspect.signature(websockets.connect.__init__).parameters
        options = {
            "additional_headers" if renamed else "extra_headers": headers,
            "max_size": FRAME_BYTES,
            "ping_interval": 30,
            "ping_timeout": 45,
        }
        delay = 1
        while True:
            try:
                async with websockets.connect(f"ws{server[4:]}/ws/daemon", **options) as socket:
                    delay = 1
                    await self.talk(socket)
                    if socket.close_code in FINAL_CODES:
                        sys.exit(78)
            except InvalidHandshake as refused:
                response = getattr(refused, "response", None)
                if getattr(refused, "status_code", getattr(response, "status_code", 0)) == 401:
                    print("The relay does not accept the credential of this device.", file=sys.stderr)
                    sys.exit(78)
            except (OSError, asyncio.TimeoutError, WebSocketException) as problem:
                code = getattr(getattr(problem, "rcvd", None), "code", None)
                if code in FINAL_CODES:
                    sys.exit(78)
            # Not all at once after an outage: anywhere in the upper half of the delay.
            await asyncio.sleep(delay / 2 + random.random() * delay / 2)
            delay = min(delay * 2, 30)


async def main():
    daemon = asyncio.create_task(Daemon().connect_always())
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, daemon.cancel)
    try:
        await daemon
    except asyncio.CancelledError:
        pass


asyncio.run(main())
