import StrataModel

@testable import StrataTree

/// Reads everything from a frame that cursors and lookups read, to find out whether any content leads outside of it.
/// The fuzz target has the same file.
package enum FrameTrial {
    private static let frameBytes = 4_096

    /// - Parameter input: a frame; one that is too short is filled with zeros.
    /// - Returns: true if all entries could be read.
    @discardableResult
    package static func run(_ input: UnsafeRawBufferPointer) -> Bool {
        // Of its exact size, so that the address sanitizer sees every step outside.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: frameBytes, alignment: 8)
        defer { buffer.deallocate() }
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        buffer.copyBytes(from: input.prefix(frameBytes))
        // Never empty.
        let base = UnsafeRawPointer(buffer.baseAddress!)
        do { try read(try Frame(base, byteCount: frameBytes)) } catch { return false }
        return true
    }

    private static func read(_ frame: Frame) throws {
        var sum = UInt32(0)
        for index in 0..<frame.count {
            let (suffix, content) = try frame.entry(index)
            let key = [UInt8](frame.prefix) + [UInt8](suffix)
            precondition(key.count <= RunFormat.maximumKeyBytes, "a key is no longer than any may be")
            if case .value(let value) = content { sum &+= value.reduce(0) { $0 &+ UInt32($1) } }
            let places = try key.withUnsafeBytes { key in
                _ = try frame.find(key)
                return try frame.search(key)
            }
            precondition((0...frame.count).contains(places), "a place is inside the frame")
        }
    }
}
