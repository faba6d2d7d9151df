/// A message of the client library, used by one thread at a time.
final class NATSMessage {
    private let library: NATSLibrary
    let handle: NATSHandle

    /// Takes over a message that the library made.
    init(_ library: NATSLibrary, owning pointer: OpaquePointer) {
        self.library = library
        handle = NATSHandle(owning: pointer, library.destroyMessage)
    }

    /// Creates a message to send; the library copies the bytes.
    init(
        _ library: NATSLibrary, to subject: String, _ bytes: [UInt8], reply: String? = nil
    ) throws(NATSFailure) {
        self.library = library
        let pointer = try library.make { result in
            bytes.withUnsafeBytes { library.createMessage(result, subject, reply, $0.baseAddress, Int32($0.count)) }
        }
        handle = NATSHandle(owning: pointer, library.destroyMessage)
    }

    func setHeader(_ name: String, _ value: String) throws(NATSFailure) {
        try library.check(handle.withPointer { library.setHeader($0, name, value) })
    }

    /// Returns the value of a header; nil if there is none.
    func header(_ name: String) -> String? {
        handle.withPointer { pointer in
            var value: NATSLibrary.Text?
            guard library.header(pointer, name, &value) == NATSFailure.Status.ok.rawValue else { return nil }
            return value.map { String(cString: $0) }
        }
    }

    /// True for the server's notice that no process received the message.
    var isUndelivered: Bool { byteCount == 0 && header("Status") == "503" }
    var reply: String? { handle.withPointer { library.messageReply($0).map { String(cString: $0) } } }
    var byteCount: Int { handle.withPointer { Int(library.messageByteCount($0)) } }

    var bytes: [UInt8] {
        handle.withPointer { pointer in
            let count = Int(library.messageByteCount(pointer))
            guard count > 0, let start = library.messageBytes(pointer) else { return [] }
            // The library keeps as many bytes there as it says, until the message is destroyed.
            return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
        }
    }
}
