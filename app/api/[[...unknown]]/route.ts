export {
  answerUnknownPath as DELETE,
  answerUnknownPath as GET,
  answerUnknownPath as HEAD,
  answerUnknownPath as OPTIONS,
  answerUnknownPath as PATCH,
  answerUnknownPath as POST,
  answerUnknownPath as PUT,
} from "@platform/endpoint/unknown-path";
