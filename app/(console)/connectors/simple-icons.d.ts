declare module "simple-icons/icons/*.svg" {
  const text: string;
  export default text;
}
