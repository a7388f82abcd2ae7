import { nodeWebSocket } from './drivers/node-web-socket.ts';
import { transportSuite } from './suite.ts';

transportSuite('WebSocket, that of Node', nodeWebSocket);
