import Glibc
import StrataModel
import StrataSystem
import Synchronization
import TestSupport

/// A port of this machine whose connections go on to another one, over a ``Link``.
final class Proxy: Sendable {
    let port: Int
    private let listener: Int32

    /// - Parameter direction: the direction of the link from who connects to the target.
    init(to target: Int, over link: Link, _ direction: Link.Direction = .forward) throws {
        let listener = try LocalSocket.listener()
        self.listener = listener
        port = try LocalSocket.port(of: listener)
        try WorkerThread(name: "listen") {
            while true {
                guard let accepted = LocalSocket.accept(listener) else { return }
                Self.forward(accepted, to: target, over: link, direction)
            }
        }.detach()
    }

    private static func forward(_ accepted: Int32, to target: Int, over link: Link, _ direction: Link.Direction) {
        do {
            try WorkerThread(name: "connect") {
                // The other side hears nothing of a connection while the link is cut.
                link.pass(direction)
                guard let other = LocalSocket.connect(to: target) else { return _ = close(accepted) }
                do { _ = try ProxiedConnection(link, direction, from: accepted, to: other) } catch {
                    close(accepted)
                    close(other)
                }
            }.detach()
        } catch { close(accepted) }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
}

/// TCP on this machine.
enum LocalSocket {
    static func listener() throws -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard withAddress(port: 0, { bind(socket, $0, $1) }) == 0, listen(socket, 64) == 0 else {
            defer { close(socket) }
            throw StrataError.systemCall("listen", path: "127.0.0.1", errno: errno)
        }
        return socket
    }

    /// Waits for a connection; nil once the listener is shut down.
    static func accept(_ listener: Int32) -> Int32? {
        var request = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        while poll(&request, 1, -1) < 0, errno == EINTR {}
        // A program that starts meanwhile must not get the socket, or it would keep the connection open.
        return ChildProcess.spawning.withLock { _ in
            let accepted = Glibc.accept(listener, nil, nil)
            guard accepted >= 0 else { return nil }
            _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
            return accepted
        }
    }

    static func port(of socket: Int32) throws -> Int {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        guard result == 0 else { throw StrataError.systemCall("getsockname", path: "127.0.0.1", errno: errno) }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Returns nil if nothing listens there.
    static func connect(to port: Int) -> Int32? {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard withAddress(port: port, { Glibc.connect(socket, $0, $1) }) == 0 else {
            close(socket)
            return nil
        }
        var isOn: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        return socket
    }

    private static func withAddress(port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
