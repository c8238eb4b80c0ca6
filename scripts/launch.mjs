/**
 * What every npm script starts, on whatever Node from 20 on: makes `node_modules` match
 * `package-lock.json`, then hands over to `run.ts` on the Node that the packages bring along.
 * Nothing is installed yet when this runs, so it imports nothing but Node itself.
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const ownNode = join(root, "node_modules", "node", "bin", "node");

process.chdir(root);
if (!isInstalled()) await installOnce();
await handOver();

/** Whether npm's own record of what it installed agrees with the lock file. */
function isInstalled() {
  const record = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(record) || !existsSync(ownNode)) return false;
  const wanted = readJson("package-lock.json").packages;
  const there = readJson("node_modules/.package-lock.json").packages;
  const manifest = readJson("package.json");
  const sameRoots = ["dependencies", "devDependencies"].every(
    (kind) => JSON.stringify(manifest[kind] ?? {}) === JSON.stringify(wanted[""]?.[kind] ?? {}),
  );
  return (
    sameRoots &&
    Object.entries(wanted).every(
      // Optional packages are for other machines, or missing without harm.
      ([path, { version, optional, devOptional }]) =>
        path === "" || optional || devOptional || there[path]?.version === version,
    )
  );
}

function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), "utf8"));
}

/** Two commands that start at once must not both write `node_modules`. */
async function installOnce() {
  const lock = join(root, ".data.install.lock");
  while (!takeLock(lock)) await delay(500);
  try {
    if (!isInstalled()) await install();
  } finally {
    rmSync(lock, { force: true });
  }
}

function takeLock(lock) {
  try {
    const file = openSync(lock, "wx");
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch {
    const holder = Number(safeRead(lock));
    if (Number.isInteger(holder) && holder > 0 && !isAlive(holder)) rmSync(lock, { force: true });
    return false;
  }
}

function safeRead(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

async function install() {
  console.log("Installing packages (a minute or two, once) ...");
  const started = Date.now();
  // Development packages build and test the project, whatever NODE_ENV says.
  const args = ["install", "--include=dev", "--include=optional", "--no-audit", "--no-fund"];
  const npm = process.env.npm_execpath;
  const [command, ...rest] = npm ? [process.execPath, npm] : ["npm"];
  const code = await end(
    spawn(command, [...rest, ...args, "--loglevel=error"], { cwd: root, stdio: "inherit" }),
  );
  if (code !== 0) {
    console.error("npm install failed; see above.");
    process.exit(1);
  }
  if (!existsSync(ownNode)) {
    console.error(
      "npm did not set up the package `node` (its install script was not allowed to run).\n" +
        "Run: npm rebuild node",
    );
    process.exit(1);
  }
  console.log(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

async function handOver() {
  const child = spawn(
    ownNode,
    ["--disable-warning=ExperimentalWarning", join("scripts", "run.ts"), ...process.argv.slice(2)],
    {
      cwd: root,
      // The channel is how the child learns that this process is gone, however it ended.
      stdio: ["inherit", "inherit", "inherit", "ipc"],
      env: { ...process.env, PATH: `${dirname(ownNode)}:${process.env.PATH ?? ""}` },
    },
  );
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  // npm may be killed without a word to us.
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) child.kill("SIGTERM");
  }, 1000).unref();
  process.exitCode = await end(child);
}

/** @returns {Promise<number>} the exit code, as a shell would report it */
function end(child) {
  return new Promise((done) => {
    child.once("error", (error) => {
      console.error(error.message);
      done(1);
    });
    child.once("exit", (code, signal) => done(code ?? (signal === "SIGINT" ? 130 : 143)));
  });
}
