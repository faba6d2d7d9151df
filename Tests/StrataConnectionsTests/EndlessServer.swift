import Glibc
import StrataSystem
import Synchronization
import TestSupport
import Testing

/// A server that takes one connection as PostgreSQL does, and then sends more notifications than buffers have room for.
/// It runs until ``stop()``.
final class EndlessServer: Sendable {
    private static let blockBytes = 64 << 10
    private static let blockCount = 1_024

    let port: Int
    private let listener: Int32
    private let accepted = Atomic<Int32>(-1)
    private let sentBlocks = Atomic(0)
    private let worker = WorkerHandle()

    /// True once some notifications can be read.
    var isSending: Bool { sentBlocks.load(ordering: .acquiring) > 0 }
    /// True once all notifications have left, since the other side read them.
    var hasSentAll: Bool { sentBlocks.load(ordering: .acquiring) == Self.blockCount }

    init() throws {
        port = try #require(try FreePorts.find(1).first)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = UInt16(port).bigEndian
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { [listener] in
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isBound && listen(listener, 1) == 0)
        try worker.start(name: "endless") { [self] in serve() }
    }

    private func serve() {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        accepted.store(connection, ordering: .releasing)
        var request = [UInt8](repeating: 0, count: 4_096)
        guard recv(connection, &request, request.count, 0) > 0 else { return }
        // The connection is accepted without a password, and ready.
        guard send([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5A, 0, 0, 0, 5, 0x49], to: connection) else { return }
        let notification = [0x41, 0, 0, 0, 12, 0, 0, 0, 1, 0x63, 0, 0x78, 0] as [UInt8]
        let block = (0..<Self.blockBytes / notification.count).flatMap { _ in notification }
        for _ in 0..<Self.blockCount {
            guard send(block, to: connection) else { return }
            sentBlocks.add(1, ordering: .releasing)
        }
    }

    private func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        shutdown(accepted.load(ordering: .acquiring), Int32(SHUT_RDWR))
        worker.join()
        close(listener)
        close(accepted.load(ordering: .acquiring))
    }
}
