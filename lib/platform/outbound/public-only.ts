/** Connections of `fetch` to the public internet, whatever the URL or a redirect names. */
import { Agent, buildConnector } from "undici";
import { AddressRefused, isPrivateLiteral, lookupPublic } from "./public-address.ts";

const connect = buildConnector({ lookup: lookupPublic });

/** Checks names by what they resolve to and literal addresses by themselves, at each connection. */
export const connectPublic: buildConnector.connector = (options, callback) => {
  if (isPrivateLiteral(options.hostname)) {
    callback(new AddressRefused("not a public address"), null);
  } else connect(options, callback);
};

/** The `dispatcher` of every request whose URL comes from a caller, a model or a document. */
export const publicOnly = new Agent({ connect: connectPublic });

/** For the service's own origin, and for loopback where the operator allows it. */
export const anywhere = new Agent();
