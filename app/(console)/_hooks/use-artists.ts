import type { z } from "zod";
import type { listArtistsContract } from "@/lib/artists/contract.ts";
import { useQuery } from "./use-query.ts";

type Artists = z.output<(typeof listArtistsContract)["responses"][200]["schema"]>["artists"];

/** Returns the artists to choose from, at most 100; none until they are loaded or if they are not wanted. */
export const useArtists = (isWanted = true): Artists =>
  useQuery<{ artists: Artists }>(isWanted ? "/api/artists?limit=100" : null).data?.artists ?? [];
