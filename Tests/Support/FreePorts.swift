import Glibc
import StrataModel

/// Ports of the loopback address that nothing used a moment ago.
package enum FreePorts {
    package static func find(_ count: Int) throws -> [Int] {
        var sockets: [Int32] = []
        // Held until all are found, so that no port comes twice.
        defer { for socket in sockets { close(socket) } }
        return try (0..<count).map { _ in
            let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            sockets.append(socket)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(socket, address, size) == 0 && getsockname(socket, address, &size) == 0
                }
            }
            guard isBound else { throw StrataError.systemCall("bind", path: "127.0.0.1", errno: errno) }
            return Int(UInt16(bigEndian: address.sin_port))
        }
    }
}
