"""Waits for answers of a server (a thread that takes its time) most of the time, as a client does."""

import socket
import threading
import time

import program

options = program.options()
client, server = socket.socketpair()


def serve():
    while request := server.recv(64):
        time.sleep(0.05)
        server.sendall(request)


threading.Thread(target=serve, daemon=True).start()


def step(number):
    client.sendall(b"%d" % number)
    client.recv(64)


program.repeat(options.seconds, step)
