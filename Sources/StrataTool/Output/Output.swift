import Glibc

/// The reason why output cannot continue.
enum OutputError: Error, CustomStringConvertible {
    /// The reader closed the pipe. This is not a failure: the command ends quietly.
    case closedPipe
    /// The operating system refused with this error number.
    case refused(Int32)

    var description: String {
        switch self {
        case .closedPipe: "the reader of the output has closed it"
        case .refused(let number): "cannot write the output: \(String(cString: strerror(number)))"
        }
    }
}

/// The standard output, buffered. Writing itself never fails: ``endLine()`` and ``flush()`` report errors, or keep them
/// for later with ``defersErrors``.
///
/// The first line is written immediately, unless ``holdsFirstLine``, to show that the command has started. The rest is
/// written in large pieces.
final class Output {
    private static let capacity = 64 << 10

    private var descriptor: Int32
    /// True to write text in colors.
    var isColored = false
    /// The width of the terminal; nil if the output goes elsewhere.
    var columns: Int?
    /// Called before the first byte is written. Returns the file to write to, or nil to keep the current one.
    var opensOnFirstByte: (() -> Int32?)?
    /// True to throw no errors, for a command that has more to do than print. The command resets it when that is done.
    var defersErrors = false
    /// True to buffer the first line with the others, so that a command can restart while its output is small.
    var holdsFirstLine = false
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    private var count = 0
    private var hasWrittenLine = false
    private var failure: Int32 = 0
    /// The number of bytes written.
    private var handedOnCount = 0
    /// The number of bytes to skip because they were written before a restart.
    private var repeatedCount = 0

    /// True once anything has left the buffer.
    var hasHandedOn: Bool { handedOnCount > 0 }

    init(descriptor: Int32 = STDOUT_FILENO) { self.descriptor = descriptor }

    deinit { buffer.deallocate() }

    /// Writes the buffer, and sends further output to another file.
    func redirect(to descriptor: Int32) {
        empty()
        opensOnFirstByte = nil
        self.descriptor = descriptor
    }

    /// Restarts the output. The caller must write the same bytes again; those already written are skipped.
    func startAgain() {
        count = 0
        repeatedCount = handedOnCount
    }

    func write(_ text: String) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    func write(_ text: StaticString) {
        write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    func write(_ byte: UInt8) {
        if count == Self.capacity { empty() }
        buffer[count] = byte
        count += 1
    }

    func write(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            if count == Self.capacity { empty() }
            let some = min(rest.count, Self.capacity - count)
            UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + some])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<some]))
            count += some
            rest = UnsafeRawBufferPointer(rebasing: rest[some...])
        }
    }

    /// Writes decimal digits, padded with zeros up to `width`.
    func write(decimal number: UInt64, width: Int = 1) {
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            var rest = number
            var start = 20
            while rest > 0 || start > 20 - width {
                start -= 1
                digits[start] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
                rest /= 10
            }
            write(UnsafeRawBufferPointer(rebasing: digits[start...]))
        }
    }

    /// Writes all hexadecimal digits of a number.
    func write<Number: FixedWidthInteger & UnsignedInteger>(hexadecimal number: Number) {
        var shift = Number.bitWidth
        while shift > 0 {
            shift -= 4
            let digit = UInt8(truncatingIfNeeded: number >> Number(shift)) & 0xF
            write(digit < 10 ? 0x30 + digit : 0x57 + digit)
        }
    }

    func endLine() throws {
        write(UInt8(ascii: "\n"))
        if !hasWrittenLine, !holdsFirstLine {
            hasWrittenLine = true
            empty()
        }
        if failure != 0 { try reportFailure() }
    }

    /// Writes the rest of a line, and ends it.
    func writeLine(_ text: String, _ ink: TextStyle? = nil) throws {
        if let ink { write(text, ink) } else { write(text) }
        try endLine()
    }

    func writeLine(indented text: String) throws { try writeLine("    " + text) }

    /// Writes the buffer.
    func flush() throws {
        empty()
        if failure != 0 { try reportFailure() }
    }

    /// Writes the buffer, and throws if the output no longer has a reader.
    func flushToListener() throws {
        try flush()
        var request = pollfd(fd: descriptor, events: 0, revents: 0)
        if poll(&request, 1, 0) > 0 { throw OutputError.closedPipe }
    }

    private func reportFailure() throws {
        if defersErrors { return }
        throw failure == EPIPE ? OutputError.closedPipe : .refused(failure)
    }

    /// Writes the buffer. After a failure it discards everything, because the error is reported elsewhere.
    private func empty() {
        if count > 0, let opens = opensOnFirstByte {
            opensOnFirstByte = nil
            descriptor = opens() ?? descriptor
        }
        let endsLine = count > 0 && buffer[count - 1] == UInt8(ascii: "\n")
        if columns != nil, count > 0 { Progress.hold() }
        defer { if columns != nil, endsLine { Progress.release() } }
        var start = min(count, repeatedCount)
        repeatedCount -= start
        while start < count && failure == 0 {
            let rest = UnsafeRawBufferPointer(rebasing: buffer[start..<count])
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if written >= 0 {
                start += written
                handedOnCount += written
            } else if errno == EAGAIN {
                var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&request, 1, -1)
            } else if errno != EINTR {
                failure = errno
            }
        }
        count = 0
    }
}
