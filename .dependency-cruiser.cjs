/**
 * The direction of imports. A folder of `lib` imports only from folders on lower floors, nothing
 * imports in a circle, and `lib` knows neither `app` nor `scripts`. The picture is in
 * docs/architecture.md; `npm run check` fails when an arrow points up.
 */
const { readdirSync } = require("node:fs");

/** The folders that are not named here, which have a single subject each. */
const subjects = [];
const floors = [
  ["platform"],
  ["engine", "identity", "mail", "models", "webhooks"],
  subjects,
  ["content"],
  ["delivery", "mcp-servers", "skills", "workspace"],
  ["running-turn"],
  ["approvals", "budgets", "context", "memory", "outcome", "steering"],
  ["tools"],
  ["turns"],
  ["sessions", "tasks"],
  ["triggers"],
  ["accounts", "health", "retention"],
  ["http"],
  ["openapi"],
];

const entries = readdirSync(`${__dirname}/lib`, { withFileTypes: true });
const folders = entries.filter((one) => one.isDirectory()).map(({ name }) => name);
subjects.push(...folders.filter((name) => !floors.flat().includes(name)));

/** The composition root: the one place where ports meet their adapters, so it knows all domains. */
const compositionRoot = "^lib/app\\.ts$";

const noArrowUp = floors.flatMap((folders, floor) =>
  folders.map((folder) => {
    const neighbours = folders.filter((other) => other !== folder);
    const forbidden = [...neighbours, ...floors.slice(floor + 1).flat()];
    return {
      name: `${folder}-imports-down`,
      severity: "error",
      from: { path: `^lib/${folder}/`, pathNot: compositionRoot },
      to: { path: `^lib/(${forbidden.join("|") || "$^"})/` },
    };
  }),
);

/** The packages from below: one imports only from packages before it. */
const packageFloors = ["kit", "endpoint", "sandbox", "documents", "skills", "media", "agent"];

const noPackageUp = packageFloors.map((name, floor) => {
  const forbidden = [...packageFloors.slice(floor + 1), "client", "world-postgres"];
  return {
    name: `${name}-imports-packages-below`,
    severity: "error",
    from: { path: `^packages/${name}/src/` },
    to: { path: `^packages/(${forbidden.join("|")})/` },
  };
});

/** A package is imported by the files that its package.json exports. */
const walls = packageFloors.map((name) => {
  const { exports: entries } = require(`./packages/${name}/package.json`);
  const files = Object.values(entries).map((file) =>
    file.slice(2).replaceAll(".", "\\.").replace("*", ".+"),
  );
  return {
    name: `${name}-has-a-wall`,
    severity: "error",
    from: { path: "^(app|lib|scripts|trigger-dev|packages)/", pathNot: `^packages/${name}/` },
    to: { path: `^packages/${name}/`, pathNot: `^packages/${name}/(${files.join("|")})$` },
  };
});

module.exports = {
  forbidden: [
    ...walls,
    {
      name: "no-circle",
      severity: "error",
      from: { pathNot: ["^tests/", "^packages/[^/]+/tests/"] },
      to: { circular: true },
    },
    ...noArrowUp,
    ...noPackageUp,
    {
      name: "no-one-imports-the-composition-root",
      comment:
        "A function receives the parts it needs (lib/parts.ts), so a route's modules are those it uses.",
      severity: "error",
      from: { path: "^lib/" },
      to: { path: compositionRoot },
    },
    {
      name: "only-the-engine-knows-the-workflow-sdk",
      comment: "Go through the port, lib/engine/port.ts. A workflow file holds the directives.",
      severity: "error",
      from: {
        path: "^(app|lib|scripts)/",
        pathNot:
          "^(lib/engine/|lib/(turns/turn|content/generation)-workflow\\.ts$|app/\\.well-known/workflow/)",
      },
      to: {
        path: "(^|/)node_modules/(workflow|@workflow/[^/]+)/|^(workflow|@workflow/[^/]+)(/|$)",
      },
    },
    {
      name: "one-file-knows-the-internals-of-the-ai-sdk",
      comment:
        "They may change with any release. A differential test compares that file with the SDK.",
      severity: "error",
      from: {
        path: "^(app|lib|packages|scripts)/",
        pathNot: "^packages/agent/src/stream-answer\\.ts$",
      },
      to: { path: "(^|/)node_modules/ai/dist/internal/|^ai/internal$" },
    },
    {
      name: "lib-is-below-app",
      severity: "error",
      from: { path: "^lib/" },
      to: { path: "^(app|scripts|tests|trigger-dev)/" },
    },
    {
      name: "lib-has-one-postgres-driver",
      comment: "It is pg, behind lib/platform/database. Scripts and tests use postgres.",
      severity: "error",
      from: { path: "^lib/" },
      to: { path: "(^|/)node_modules/postgres/" },
    },
    {
      name: "packages-stand-alone",
      severity: "error",
      from: { path: "^packages/[^/]+/src/" },
      to: { path: "^(app|lib|scripts|tests)/" },
    },
    {
      name: "packages-share-the-contract",
      comment: "A package above knows how an endpoint is declared, not how requests are answered.",
      severity: "error",
      from: { path: "^packages/[^/]+/src/", pathNot: "^packages/endpoint/" },
      to: { path: "^packages/endpoint/", pathNot: "^packages/endpoint/src/contract/" },
    },
    {
      name: "trigger-stands-alone",
      comment: "Trigger.dev bundles it without the service, which it reaches over HTTP.",
      severity: "error",
      from: { path: "^trigger-dev/" },
      to: { path: "^(app|lib|scripts|tests)/" },
    },
    {
      name: "app-is-not-tests",
      severity: "error",
      from: { path: "^(app|scripts)/" },
      to: { path: "^tests/" },
    },
  ],
  options: {
    parser: "swc",
    doNotFollow: { path: ["node_modules"] },
    tsConfig: { fileName: "tsconfig.base.json" },
    enhancedResolveOptions: {
      extensions: [".ts", ".tsx", ".mjs", ".js", ".json"],
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
    },
  },
};
