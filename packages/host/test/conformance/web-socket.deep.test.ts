import { rawFrames } from './drivers/raw-frames.ts';
import { typedWebSocket } from './drivers/typed-client.ts';
import { unixWebSocket } from './drivers/unix-web-socket.ts';
import { transportSuite } from './suite.ts';

transportSuite('WebSocket on the Unix socket, ws', unixWebSocket);
transportSuite('WebSocket, a bare socket', rawFrames);
transportSuite('WebSocket, the typed client', typedWebSocket);
