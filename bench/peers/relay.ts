/** Program: the least that a server between client and model can do. It passes bytes on, unread. */
import { createServer, request } from "node:http";

const [port, model = ""] = process.argv.slice(2);

createServer((incoming, outgoing) => {
  if (incoming.method === "GET") return void outgoing.end();
  const forward = request(
    `${model}/chat/completions`,
    { method: "POST", headers: { "content-type": "application/json" } },
    (answer) => {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      answer.pipe(outgoing);
    },
  );
  incoming.pipe(forward);
}).listen(Number(port), "127.0.0.1");
