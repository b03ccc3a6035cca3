"""What Flask under gunicorn can do at most: parse the request, write the reply. No protocol, no governance."""

import orjson
from constant import RESULT
from flask import Flask, Response, request

app = Flask(__name__)


@app.post("/mcp")
def answer() -> Response:
    asked = orjson.loads(request.get_data())
    text = orjson.dumps(RESULT).decode()
    result = {"content": [{"type": "text", "text": text}], "structuredContent": RESULT, "isError": False}
    return Response(orjson.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), mimetype="application/json")
