/** A server of images on loopback, which answers as scripted by a test and keeps the received requests. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export type ImageHost = Awaited<ReturnType<typeof startImageHost>>;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export async function startImageHost() {
  const answers: Answer[] = [];
  const requests: IncomingHttpHeaders[] = [];
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const server = createServer(async (request, response) => {
    requests.push(request.headers);
    await gate.promise;
    const answer = answers[Number(request.url?.slice(1))];
    response.writeHead(answer?.status ?? 404, answer?.headers).end(answer?.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const add = (answer: Answer) => `${origin}/${answers.push(answer) - 1}`;
  return {
    /** The headers of all requests, oldest first. */
    requests: requests as readonly IncomingHttpHeaders[],
    /** Returns the URL of the body. */
    serve: (body: Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
      add({ status: 200, headers, body }),
    /** Returns a URL that redirects; without a target, to itself. */
    redirect: (target: string) =>
      add({
        status: 302,
        headers: { location: target || `/${answers.length}` },
        body: Buffer.of(),
      }),
    /** Answers nothing until the returned function is called. */
    hold: () => {
      gate = Promise.withResolvers<void>();
      return gate.resolve;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
