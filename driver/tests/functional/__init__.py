"""The driver as oslo.messaging's users see it: real clients, servers and listeners, real routers and a real broker.

Nothing here knows the driver but by `amqp://`. `services` has what programs use of oslo.messaging, `server_process` a
server that a test can kill, `meshes` routers from the tree around the driver, `broker` a RabbitMQ.

`test_rpc` and `test_notifications` are about who gets what through one router, `test_trouble` about what is seen when
somebody is slow, gone or never there, `test_mesh` about three routers of which some are killed, `test_rabbitmq` about
legacy addresses at a broker, `test_wire` about what a router and other peers see, `test_security` about a router that
asks for proof. `test_nova_demo` and `test_bench` run what is built on the driver.
"""
