import Glibc
import StrataModel

extension StrataError {
    /// Returns what a failed system call means to the caller, judged by the error number it left.
    package static func systemCall(_ call: StaticString, path: String, errno number: Int32) -> StrataError {
        let context = Context(path: path, found: "\(call): \(String(cString: strerror(number)))", errno: number)
        switch number {
        case ENOENT, ENOTDIR: return StrataError(.notFound, "There is no such file or directory.", context)
        case EEXIST: return StrataError(.alreadyExists, "The file is there already.", context)
        case EACCES, EPERM:
            return StrataError(
                .permissionDenied, "This user may not do that; check owner and mode of the path.", context)
        case EROFS:
            return StrataError(.readOnlyMedium, "The medium is read-only; open the store for reading.", context)
        case ENOSPC, EDQUOT, EFBIG: return StrataError(.noSpace, "There is no space left for this.", context)
        case ELOOP:
            return StrataError(
                .inputOutput, "A symbolic link stands for a file of the store; put the file itself in its place.",
                context
            )
        case EINTR: return StrataError(.interrupted, "A signal interrupted the call.", context)
        default: return StrataError(.inputOutput, "The operating system reports an error.", context)
        }
    }

}
