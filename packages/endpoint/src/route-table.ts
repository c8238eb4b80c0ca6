/** Finds the route of a path among patterns such as `/api/keys/[id]`, as the App Router names its folders. */

export type RouteParams = Record<string, string | string[]>;

interface Node<R> {
  readonly children: Map<string, Node<R>>;
  route?: R;
  /** The name of the parameter that takes this segment, or this one and all that follow. */
  param?: string;
}

/** A segment is matched by its text before a parameter, and by `[name]` before `[...name]` and `[[...name]]`. */
export class RouteTable<R> {
  readonly #root: Node<R> = { children: new Map() };

  add(pattern: string, route: R): void {
    let node = this.#root;
    for (const segment of segmentsOf(pattern)) {
      const [, optional, rest, param] = /^(\[?)\[(\.\.\.)?(\w+)\]/.exec(segment) ?? [];
      if (optional) node.route ??= route;
      const key = param === undefined ? `/${segment}` : rest ? "..." : "*";
      const child: Node<R> = node.children.get(key) ?? { children: new Map() };
      if (param !== undefined) child.param = param;
      node.children.set(key, child);
      node = child;
    }
    node.route = route;
  }

  /** Returns the route with its decoded parameters; null if no pattern fits or an escape is not UTF-8. */
  match(path: string): { readonly route: R; readonly params: RouteParams } | null {
    try {
      return find(this.#root, segmentsOf(path).map(decodeURIComponent), 0, {});
    } catch {
      return null;
    }
  }
}

const segmentsOf = (path: string): string[] => path.split("/").slice(1);

function find<R>(
  node: Node<R>,
  segments: readonly string[],
  at: number,
  params: RouteParams,
): { readonly route: R; readonly params: RouteParams } | null {
  const segment = segments[at];
  if (segment === undefined) return node.route === undefined ? null : { route: node.route, params };
  const { children } = node;
  const fixed = children.get(`/${segment}`);
  const found = fixed && find(fixed, segments, at + 1, params);
  if (found) return found;
  const one = segment === "" ? undefined : children.get("*");
  const taken = one && find(one, segments, at + 1, { ...params, [String(one.param)]: segment });
  if (taken) return taken;
  const rest = children.get("...");
  if (rest?.route === undefined) return null;
  return { route: rest.route, params: { ...params, [String(rest.param)]: segments.slice(at) } };
}
