import { inSpan, type OpenSpan, type SpanName } from "@platform/kit/telemetry/spans";
import type { Sandbox, SandboxFiles, SandboxProvider } from "./port.ts";

type SandboxSpan = Extract<SpanName, `sandbox.${string}`>;

/** Returns the provider with a span for each operation, without commands, paths and output. */
export function traceSandboxes(provider: SandboxProvider): SandboxProvider {
  return {
    ...provider,
    provision: (...args) => traced("sandbox.provision", () => provider.provision(...args)),
    open: (...args) => traceSandbox(provider.open(...args)),
    openFiles: (...args) => traceFiles(provider.openFiles(...args)),
    status: (...args) => traced("sandbox.status", () => provider.status(...args)),
    destroy: (...args) => traced("sandbox.destroy", () => provider.destroy(...args)),
  };
}

const traceSandbox = (sandbox: Sandbox): Sandbox => ({
  run: (...args) =>
    traced("sandbox.run", async (span) => {
      const result = await sandbox.run(...args);
      span.set({ "app.sandbox.exit_code": result.exitCode });
      return result;
    }),
  readFile: (...args) => traced("sandbox.read", () => sandbox.readFile(...args)),
  writeFile: (...args) => traced("sandbox.write", () => sandbox.writeFile(...args)),
});

const traceFiles = (files: SandboxFiles): SandboxFiles => ({
  listFolder: (...args) => traced("sandbox.list", () => files.listFolder(...args)),
  listTree: (...args) => traced("sandbox.list", () => files.listTree(...args)),
  readFile: (...args) => traced("sandbox.read", () => files.readFile(...args)),
  // Its reader decides how long it takes.
  readStream: (...args) => files.readStream(...args),
  writeStream: (...args) => traced("sandbox.write", () => files.writeStream(...args)),
  remove: (...args) => traced("sandbox.remove", () => files.remove(...args)),
});

const traced = <T>(name: SandboxSpan, work: (span: OpenSpan) => Promise<T>): Promise<T> =>
  inSpan(name, { kind: "client" }, work);
