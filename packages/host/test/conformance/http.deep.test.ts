import { httpCurl } from './drivers/http-curl.ts';
import { rawRequests } from './drivers/raw-requests.ts';
import { typedHttp } from './drivers/typed-client.ts';
import { transportSuite } from './suite.ts';

transportSuite('HTTP on the Unix socket, curl', httpCurl);
transportSuite('HTTP, a bare socket', rawRequests);
transportSuite('HTTP, the typed client', typedHttp);
