/** How far the kernel separates a child process from the server. */
export type Isolation =
  /** Another user in separate namespaces, which sees only the files that it is given. */
  | { readonly kind: "namespaces"; readonly disableUserns: boolean }
  /** Another user; with `unshare`, also without a network and without sight of other processes. */
  | { readonly kind: "user"; readonly unshare: boolean; readonly missing: string }
  /** The server's own user. */
  | { readonly kind: "none"; readonly missing: string };
