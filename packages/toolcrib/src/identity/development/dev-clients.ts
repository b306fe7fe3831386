/** The clients that the development issuer knows: the gateway itself, and the command line. */
export const gatewayClient = 'toolcrib-gateway';
export const userClient = 'toolcrib-cli';
