import Glibc
import StrataSystem

/// A connection through a proxy: two sockets, and a thread for each direction between them.
final class ProxiedConnection: Sendable {
    private struct State {
        /// The side whose peer believes that the connection is still there.
        var unaware: Int?
        var isOver = false
        /// The number of threads that use the sockets.
        var users = 2
    }

    private let link: Link
    /// The side that connected, and the side that was connected to.
    private let sockets: [Int32]
    /// The direction of the link in which bytes of the first socket go.
    private let direction: Link.Direction
    private let state = Monitor(State())

    private static let pieceBytes = 256 << 10

    init(_ link: Link, _ direction: Link.Direction, from socket: Int32, to other: Int32) throws {
        (self.link, self.direction, sockets) = (link, direction, [socket, other])
        link.add(self)
        for side in 0..<2 {
            try WorkerThread(name: "proxy") { [self] in pump(from: side) }.detach()
        }
    }

    private func pump(from side: Int) {
        let direction = side == 0 ? direction : direction.reversed
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: Self.pieceBytes, alignment: 16)
        defer { bytes.deallocate() }
        while true {
            let count = read(sockets[side], bytes, Self.pieceBytes)
            link.pass(direction)
            guard count > 0, !isOver else { break }
            write(bytes, count, to: 1 - side)
        }
        // The other side learns of it, unless it is the one that must not.
        state.wait { $0.unaware == 1 - side && !$0.isOver ? nil : () }
        shutdown(sockets[1 - side], Int32(SHUT_WR))
        release()
    }

    private var isOver: Bool { state.withLock { $0.isOver } }

    /// Writes to a side; what it does not take is lost.
    private func write(_ bytes: UnsafeMutableRawPointer, _ count: Int, to side: Int) {
        var start = 0
        while start < count {
            let written = Glibc.write(sockets[side], bytes + start, count - start)
            if written <= 0 { return }
            start += written
        }
    }

    private func release() {
        let isLast = state.withLock { state in
            state.users -= 1
            return state.users == 0
        }
        guard isLast else { return }
        link.remove(self)
        for socket in sockets { close(socket) }
    }

    func end() {
        // The sockets are closed only after both threads have ended, and are not used after that.
        state.withLock { state in
            state.isOver = true
            guard state.users > 0 else { return }
            for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
        state.notifyAll()
    }

    /// Ends the connection for the side that a direction leads to. The other side finds out at ``end()``.
    func halve(_ direction: Link.Direction) {
        let side = direction == self.direction ? 1 : 0
        state.withLock { state in
            guard state.users == 2, !state.isOver else { return }
            state.unaware = 1 - side
            shutdown(sockets[side], Int32(SHUT_RDWR))
        }
    }
}
