import FuzzDriver
import FuzzedInputs

fuzz { _ = FuzzBodies.schema($0) }
