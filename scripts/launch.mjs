/**
 * The entry point of every npm script, for any Node from version 20 on: makes `node_modules` match
 * `package-lock.json`, then runs `run.ts` with the Node from npm. No package may be installed yet, so
 * this file imports only Node's own modules.
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const ownNode = join(root, "node_modules", "node", "bin", "node");
const [script] = process.argv.slice(2);
/** Development packages check, test and package the project. A server runs and builds without them. */
const needsDevPackages = ![
  "backup",
  "build",
  "catalog:import",
  "dev",
  "doctor",
  "key",
  "restore",
  "start",
].includes(script);

process.chdir(root);
if (!isInstalled()) await installOnce();
await runScript();

/** Returns whether npm's record of the installed packages matches the lock file. */
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
      // Optional packages may be missing, for example because they are for other platforms.
      ([path, { version, dev, optional, devOptional }]) =>
        path === "" ||
        optional ||
        devOptional ||
        (dev && !needsDevPackages) ||
        there[path]?.version === version,
    )
  );
}

function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), "utf8"));
}

/** Installs under a lock: concurrent commands must not write `node_modules` at the same time. */
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
  console.log("Installing packages. This takes a minute or two and happens only once…");
  const started = Date.now();
  // Independent of NODE_ENV. Packages that are installed already stay.
  const dev = needsDevPackages ? "--include=dev" : "--omit=dev";
  const args = ["install", dev, "--include=optional", "--no-audit", "--no-fund"];
  const npm = process.env.npm_execpath;
  const [command, ...rest] = npm ? [process.execPath, npm] : ["npm"];
  const code = await exitCodeOf(
    spawn(command, [...rest, ...args, "--loglevel=error"], { cwd: root, stdio: "inherit" }),
  );
  if (code !== 0) {
    console.error("npm install failed. See the output above.");
    process.exit(1);
  }
  if (!existsSync(ownNode)) {
    console.error(
      "npm did not run the install script of the package `node`.\nRun: npm rebuild node",
    );
    process.exit(1);
  }
  console.log(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

async function runScript() {
  const child = spawn(
    ownNode,
    ["--disable-warning=ExperimentalWarning", join("scripts", "run.ts"), ...process.argv.slice(2)],
    {
      cwd: root,
      // The child detects the exit of this process by the closed IPC channel, even after a kill.
      stdio: ["inherit", "inherit", "inherit", "ipc"],
      env: {
        // Compiled modules are kept from one process to the next, and servers start sooner.
        NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "compiled"),
        ...process.env,
        PATH: `${dirname(ownNode)}:${process.env.PATH ?? ""}`,
      },
    },
  );
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  // npm may be killed without signalling this process.
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) child.kill("SIGTERM");
  }, 1000).unref();
  process.exitCode = await exitCodeOf(child);
}

/** @returns {Promise<number>} the exit code that a shell would report */
function exitCodeOf(child) {
  return new Promise((done) => {
    child.once("error", (error) => {
      console.error(error.message);
      done(1);
    });
    child.once("exit", (code, signal) => done(code ?? (signal === "SIGINT" ? 130 : 143)));
  });
}
