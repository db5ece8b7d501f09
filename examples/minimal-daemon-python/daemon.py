#!/usr/bin/env python3
"""A whole daemon in one file: Python's standard library and `websockets` (Debian: apt install python3-websockets).

    RELAY_SERVER=… RELAY_DEVICE_ID=… RELAY_REFRESH_TOKEN=… python3 examples/minimal-daemon-python/daemon.py

Replace `answer` by your own agent. The history is kept in memory: it is gone when the program ends.
"""
import asyncio
import hashlib
import inspect
import json
import os
import random
import signal
import sys
import time
import uuid
from datetime import datetime, timezone

import websockets
from websockets.exceptions import InvalidHandshake, WebSocketException

FRAME_BYTES = 16 * 1024 * 1024
MESSAGE_BYTES = 256 * 1024
# A larger operation is not streamed: its version is missing, and apps ask for it.
OPERATION_BYTES = 48 * 1024
PAGE_BYTES = 1024 * 1024
PLAIN_KINDS = {"user", "text", "question", "error"}
REPORT_SECONDS = 30
# Closed for good: credential refused, forbidden, device removed, replaced by another daemon.
FINAL_CODES = {4401, 4403, 4404, 4409}


def setting(name):
    value = os.environ.get(name)
    if not value:
        sys.exit(f"Set {name}.")
    return value


async def answer(message, tell, show):
    """The agent. `tell(event_type, **fields)` reports, `show(kind, content, **part)` adds an item; the return value ends the task."""
    await tell("PROGRESS", action="Thinking", target="")
    if message == "fail":
        raise RuntimeError("I was asked to fail.")
    if message == "ask":
        options = [{"id": "red", "label": "Red"}, {"id": "blue", "label": "Blue"}]
        return {"event_type": "WAIT_FOR_USER", "prompt": "Which colour?", "result": "", "options": options}
    if message == "hang":
        await asyncio.Event().wait()
    looking = f"Looking at {len(message)} characters."
    await tell("OUTPUT", output=f"{looking}\n")
    await show("tool", looking, id=str(uuid.uuid4()), title=looking, does="read", status="completed")
    return {"event_type": "TASK_COMPLETE", "result": f"You said: {message}"}


def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def cut(text, limit=MESSAGE_BYTES):
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def named(prompt, options):
    """A question with its identity: an answer that gives it is for this one and no other."""
    asked = json.dumps([prompt, None, options], separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(asked.encode()).hexdigest()[:32]
    kind = "choice" if options else "text"
    return {"uuid": str(uuid.uuid4()), "title": prompt, "kind": kind, "options": options, "text": True, "digest": digest}


class Daemon:
    def __init__(self):
        self.sessions = {}  # session id -> list of items
        self.versions = {}  # session id -> the first and the newest version
        self.prompts = {}  # session id -> its open question
        self.declared = set()  # what this relay takes
        self.running = {}  # task id -> (asyncio task, session id)
        self.seen = {}  # task ids, oldest first
        self.owed = {}  # task id -> its end, until it was written to a live socket
        self.watched = set()
        self.locks = {}  # session id -> one turn at a time
        self.socket = None

    # Frames to the relay

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
        open_prompts = [question["uuid"] for question in self.prompts.values()]
        named = {"open_prompts": open_prompts} if "prompts" in self.declared else {}
        await self.send({"type": "status", "running_tasks": list(self.running)} | named)

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
        messages = self.plain(session)
        last = messages[-1] if messages else {"content": "", "timestamp": now()}
        return {
            "session_id": session,
            "last_message": cut(last["content"], 2048),
            "last_activity": last["timestamp"],
            "message_count": len(messages),
        }

    # Items: the conversation as one list, and operations that tell every change of it

    def plain(self, session):
        """What a reader who knows no parts gets."""
        fields = ("uuid", "role", "content", "timestamp")
        plain = [item for item in self.sessions[session] if item["part"]["kind"] in PLAIN_KINDS]
        return [{name: item[name] for name in fields} for item in plain]

    async def operate(self, session, task_id, operation, item):
        """`item` is as it is after the operation. The members of the frame have this order, so that the relay forwards it as it is."""
        first, newest = self.versions.get(session, (time.time_ns() // 1_000_000,) * 2)
        self.versions[session] = (first, newest + 1)
        item["v"] = newest + 1
        if "transcript" not in self.declared or len(json.dumps(operation)) > OPERATION_BYTES:
            return
        frame = {"type": "event", "event_type": "TRANSCRIPT", "task_id": task_id, "session_id": session}
        await self.send(frame | {"v": newest + 1, "ops": [operation]})

    async def put(self, session, task_id, role, content, part, name=None):
        items = self.sessions[session]
        item = {"uuid": name or str(uuid.uuid4()), "seq": len(items) + 1, "role": role, "content": cut(content)}
        item |= {"timestamp": now(), "part": part}
        items.append(item)
        await self.operate(session, task_id, {"op": "put", "item": dict(item)}, item)
        return item["uuid"]

    async def settle(self, session, task_id, state, answer=None):
        """The open question of the session ends in this state."""
        question = self.prompts.pop(session, None)
        if question is None:
            return
        change = {"state": state} | ({"answer": answer} if answer else {})
        item = next(item for item in self.sessions[session] if item["uuid"] == question["uuid"])
        item["part"] = item["part"] | change
        await self.operate(session, task_id, {"op": "set", "uuid": item["uuid"], "part": change}, item)
        if state != "answered" and "prompts" in self.declared:
            closed = {"event_type": "PROMPT_CLOSED", "uuid": question["uuid"], "state": state}
            await self.send({"type": "event", "task_id": task_id, "session_id": session} | closed)

    # Tasks: each gets exactly one end, except a cancelled one

    async def begin(self, frame, session, message):
        task_id = frame["task_id"]
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
        self.running[task_id] = (asyncio.create_task(self.run(frame, session, message, known, is_new)), session)

    async def take(self, frame, session, message):
        """Records what the user said, bound to the question that it answers. A choice for any other question is refused."""
        question = self.prompts.get(session)
        wanted = frame.get("prompt_uuid") or (question or {}).get("uuid")
        is_choice = frame.get("option_id") is not None or frame.get("fields") is not None
        digest = frame.get("digest")
        fits = question is not None and wanted == question["uuid"] and digest in (None, question["digest"])
        if is_choice and not fits:
            raise LookupError("This question is no longer open.")
        part = {"kind": "user"} | ({"answers": wanted} if fits else {})
        if fits:
            option = {"option": frame["option_id"]} if frame.get("option_id") else {}
            await self.settle(session, frame["task_id"], "answered", option | {"text": cut(message, 4096), "at": now()})
        await self.put(session, frame["task_id"], "USER", message, part, frame.get("message_uuid"))

    async def run(self, frame, session, message, known, is_new):
        task_id = frame["task_id"]

        async def tell(event_type, **fields):
            if event_type == "OUTPUT" and "transcript" in self.declared:
                return
            event = {"type": "event", "task_id": task_id, "session_id": session, "event_type": event_type}
            await self.send(event | fields)

        async def show(kind, content, **part):
            await self.put(session, task_id, "AGENT", content, {"kind": kind} | part)

        await self.status()
        if is_new:
            await tell("SESSION_STARTED")
        try:
            if not known:
                raise RuntimeError("This device has no such session.")
            async with self.locks.setdefault(session, asyncio.Lock()):
                await self.take(frame, session, message)
                end = await answer(message, tell, show)
        except asyncio.CancelledError:
            return
        except LookupError as error:
            end = {"event_type": "ERROR", "error": str(error), "code": "PROMPT_SUPERSEDED"}
        except Exception as error:  # noqa: BLE001 - whatever the agent does, the task ends
            end = {"event_type": "ERROR", "error": str(error) or type(error).__name__}
        if known:
            end |= await self.record_end(session, task_id, end)
        if "result" in end:
            end["result"] = cut(end["result"])
        frame = {"type": "event", "task_id": task_id, "session_id": session} | end
        self.running.pop(task_id, None)
        if not await self.send(frame):
            self.owed[task_id] = frame
        await self.status()
        if known:
            await self.activity(session, end["event_type"] == "TASK_COMPLETE")

    async def record_end(self, session, task_id, end):
        """The item that ends the turn; its uuid goes with the event."""
        if end["event_type"] == "WAIT_FOR_USER":
            question = self.prompts[session] = named(end["prompt"], end["options"]) | {"task": task_id}
            asked = {name: value for name, value in question.items() if name != "task"}
            part = {"kind": "question", "question": asked, "state": "open"}
            await self.put(session, task_id, "AGENT", end["prompt"], part, question["uuid"])
            told = {"question": asked} if "prompts" in self.declared else {}
            return told | {"message_uuid": question["uuid"]}
        is_error = end["event_type"] == "ERROR"
        part = {"kind": "error" if is_error else "text"}
        words = end["error"] if is_error else end["result"]
        return {"message_uuid": await self.put(session, task_id, "SYSTEM" if is_error else "AGENT", words, part)}

    async def cancel(self, task_id):
        task, session = self.running.pop(task_id, (None, None))
        if task:
            task.cancel()
            await self.put(session, task_id, "SYSTEM", "", {"kind": "mark", "what": "cancelled"})
        for asked_in in [key for key, question in self.prompts.items() if question["task"] == task_id]:
            await self.settle(asked_in, task_id, "superseded")
        await self.status()

    # Frames from the relay

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
        history = None
        if session in self.sessions:
            history = self.sessions[session] if frame.get("parts") else self.plain(session)
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
        changed = frame.get("changed")
        if frame.get("parts"):
            oldest, newest = self.versions[session]
            reply |= {"v": newest}
            if changed is not None:
                later = [item for item in history if item["v"] > changed]
                # A version from before this program began is not known here: the app drops what it has.
                if not oldest <= changed <= newest or len(later) > 200 or len(json.dumps(later)) > PAGE_BYTES:
                    reply |= {"reset": True}
                else:
                    page, first = later, start
        while len(json.dumps(page)) > PAGE_BYTES:
            page, first = page[1:], first + 1
        uuids = [message["uuid"] for message in page] or [None]
        cursors = {"has_more": first > start, "oldest_uuid": uuids[0], "newest_uuid": uuids[-1]}
        await self.send(reply | cursors | {"messages": page})

    async def watch(self, frame):
        self.watched.add(frame["session_id"])

    async def unwatch(self, frame):
        self.watched.discard(frame["session_id"])

    async def pong(self, _frame):
        await self.send({"type": "pong"})

    async def start(self, frame):
        await self.begin(frame, None, frame["instruction"])

    async def resume(self, frame):
        await self.begin(frame, frame["session_id"], frame["message"])

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
        # The attribute was renamed in version 14 of the library.
        response = getattr(socket, "response", None)
        answered = response.headers if response is not None else socket.response_headers
        names = answered.get("X-Relay-Capabilities", "").split(",")
        self.declared = {name.strip() for name in names}
        self.watched.clear()
        # Before `status`: a task that ended while disconnected must not be taken for lost.
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
            "X-Daemon-Capabilities": "transcript, prompts",
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
