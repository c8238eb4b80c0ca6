/** Dispatchers of `fetch` that restrict connections for every URL and redirect. */
import { Agent, buildConnector } from "undici";
import { AddressRefused, isPrivateLiteral, lookupPublic } from "./public-address.ts";

const connect = buildConnector({ lookup: lookupPublic });

/** Connects to public addresses only: checks literal addresses and resolved names. */
export const connectPublic: buildConnector.connector = (options, callback) => {
  if (isPrivateLiteral(options.hostname)) {
    callback(new AddressRefused("not a public address"), null);
  } else connect(options, callback);
};

/** The `dispatcher` of every request whose URL comes from a caller, a model or a document. */
export const publicOnly = new Agent({ connect: connectPublic });

/** The `dispatcher` for the service's own origin, and for loopback where the operator allows it. */
export const anywhere = new Agent();
