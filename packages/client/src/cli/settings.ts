/** Where the service is and the API key: from the environment, else from the file that `login` writes. */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

export interface Settings {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_URL = "http://localhost:3000";

export const settingsFile = ({ XDG_CONFIG_HOME }: Environment): string =>
  join(XDG_CONFIG_HOME || join(homedir(), ".config"), "agent-platform", "config.json");

export function readSettings(env: Environment): Settings {
  const { AGENT_PLATFORM_URL, AGENT_PLATFORM_API_KEY } = env;
  const stored = readStored(settingsFile(env));
  const baseUrl = AGENT_PLATFORM_URL || stored.baseUrl || DEFAULT_URL;
  // The key of one service is not for another one.
  const storedKey = baseUrl === stored.baseUrl ? stored.apiKey : undefined;
  return { baseUrl, apiKey: AGENT_PLATFORM_API_KEY || storedKey };
}

/** Writes the file, readable for its owner only. */
export function writeSettings(env: Environment, settings: Settings): string {
  const file = settingsFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  // The mode above applies to a new file only.
  chmodSync(file, 0o600);
  return file;
}

export const removeSettings = (env: Environment): void =>
  rmSync(settingsFile(env), { force: true });

function readStored(file: string): Partial<Settings> {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}
