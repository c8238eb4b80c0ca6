import { isAppError } from "@/lib/contract/app-error.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { listTracksContract } from "@/lib/research/contract.ts";
import { listTracks } from "@/lib/research/list-tracks.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listTracksContract, async ({ app, query }) => {
    const tracks = await listTracks(app, query);
    return isAppError(tracks) ? tracks : { body: { status: "success", tracks } };
  }),
});
