/**
 * Program: the first in the namespaces of one command. It offers the proxy, whose socket has been
 * mounted there, on the loopback address, starts the command's shell, and exits with its code. It is
 * JavaScript, because Node takes twice as long to start with TypeScript.
 */
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { constants } from "node:os";

const [port, socketPath, ...argv] = process.argv.slice(2);

const proxy = createServer({ allowHalfOpen: true }, (inner) => {
  const outer = connect({ path: socketPath, allowHalfOpen: true });
  inner.on("error", () => outer.destroy());
  outer.on("error", () => inner.destroy());
  inner.pipe(outer).pipe(inner);
});

proxy.listen(Number(port), "127.0.0.1", () => {
  // 3 is where the command's text is read from.
  const shell = spawn("bash", argv, { stdio: ["inherit", "inherit", "inherit", 3] });
  shell.once("error", () => process.exit(126));
  shell.once("exit", (code, signal) => {
    process.exit(code ?? 128 + constants.signals[signal]);
  });
});
