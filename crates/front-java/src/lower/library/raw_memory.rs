//! `jdk.internal.misc.Unsafe` and the creation of variable handles: accesses to objects by offset.

use crate::classes::LoweringError;
use crate::classes::layout::{ARRAY_BASE_OFFSET, HANDLE_HIDDEN_BYTES};
use crate::classfile::{Desc, MethodDesc};
use crate::lower::builder::{Builder, int, long};
use crate::lower::context::Lowering;
use crate::lower::symbols::{ClassQuery, GlobalKind};
use touchstone_ir::{BinOp, BranchRole, CastOp, CmpOp, Ty};

impl Lowering {
    pub fn unsafe_native(
        &mut self,
        b: &mut Builder,
        name: &str,
        desc: &str,
        is_native: bool,
    ) -> Result<bool, LoweringError> {
        let Some(types) = MethodDesc::parse(desc) else { return Ok(false) };
        match name {
            "arrayBaseOffset0" => {
                let wide = types.result == Desc::Long;
                b.ret(Some(if wide { long(ARRAY_BASE_OFFSET) } else { int(ARRAY_BASE_OFFSET as i32) }));
            }
            "arrayIndexScale0" => {
                let class = b.param(1);
                let size = self.query_mirror(b, ClassQuery::ElementSize, class, &[], Some(Ty::I32))?;
                let sign = b.bin(BinOp::AShr, size, int(31));
                let flipped = b.bin(BinOp::Xor, size, sign);
                let size = b.bin(BinOp::Sub, flipped, sign);
                b.ret(Some(size));
            }
            "addressSize0" => b.ret(Some(int(8))),
            "pageSize" => b.ret(Some(int(4096))),
            "isBigEndian0" | "shouldBeInitialized0" => b.ret(Some(int(0))),
            "unalignedAccess0" => b.ret(Some(int(1))),
            "fullFence" | "storeFence" | "loadFence" | "unpark" => b.ret(None),
            "objectFieldOffset1" | "knownObjectFieldOffset0" => {
                let (class, field) = (b.param(1), b.param(2));
                let offset = self.query_mirror(b, ClassQuery::FieldOffset, class, &[field], Some(Ty::I64))?;
                b.ret(Some(offset));
            }
            "objectFieldOffset0" => self.offset_of_field(b)?,
            "ensureClassInitialized0" => {
                let class = b.param(1);
                self.query_mirror(b, ClassQuery::Initialise, class, &[], None)?;
                b.ret(None);
            }
            _ if is_native => return Ok(memory_native(self, b, name, &types)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub fn handle_native(&mut self, b: &mut Builder, name: &str, _: &str) -> Result<bool, LoweringError> {
        match name {
            "lookup" => {
                let class = self.jdk("java/lang/invoke/MethodHandles$Lookup")?;
                let object = self.allocate(b, class);
                b.ret(Some(object));
            }
            "privateLookupIn" => b.ret(Some(b.param(1))),
            "findVarHandle" => {
                let (class, field) = (b.param(1), b.param(2));
                self.null_check(b, class);
                let offset = self.query_mirror(b, ClassQuery::FieldOffset, class, &[field], Some(Ty::I64))?;
                let handle = self.jdk("java/lang/invoke/VarHandle")?;
                let object = self.allocate(b, handle);
                let at = self.classes.get(handle).size - HANDLE_HIDDEN_BYTES;
                b.store(object, at as i64, offset);
                b.ret(Some(object));
            }
            "arrayElementVarHandle" => {
                let handle = self.jdk("java/lang/invoke/VarHandle")?;
                let object = self.allocate(b, handle);
                b.ret(Some(object));
            }
            "byteArrayViewVarHandle" => {
                let orders = self.jdk("java/nio/ByteOrder")?;
                self.ensure_init(b, orders);
                let Some(big) = self.classes.static_named(orders, "BIG_ENDIAN") else { return Ok(false) };
                let big = self.global_id(GlobalKind::Static(big));
                let big = b.global(big);
                let big = b.load(big, 0, Ty::Ptr);
                let other = b.block();
                let little = b.cmp(CmpOp::Ne, b.param(1), big);
                b.check(little, other);
                let handle = self.jdk("java/lang/invoke/VarHandle")?;
                let object = self.allocate(b, handle);
                let at = self.classes.get(handle).size - HANDLE_HIDDEN_BYTES + 8;
                b.store(object, at as i64, long(1));
                b.ret(Some(object));
                b.at(other);
                b.unsupported("bytes as big-endian numbers behind a handle");
            }
            "withInvokeExactBehavior" | "withInvokeBehavior" => b.ret(Some(b.param(0))),
            "fullFence" | "acquireFence" | "releaseFence" | "loadLoadFence" | "storeStoreFence" => b.ret(None),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Lowers loads, stores and compare-and-swap at an object's offset; returns false for other methods.
fn memory_native(lowering: &mut Lowering, b: &mut Builder, name: &str, types: &MethodDesc) -> bool {
    let place = |b: &mut Builder| b.add(b.param(1), b.param(2));
    if name.starts_with("compareAndSet") || name.starts_with("compareAndExchange") {
        let Some(desc) = types.params.get(2) else { return false };
        let place = place(b);
        let (expected, value) = (b.param(3), b.param(4));
        let old = b.load_as(place, desc);
        let same = match desc.is_ref() {
            true => lowering.same_reference(b, old, expected),
            false => b.cmp(CmpOp::Eq, old, expected),
        };
        let (swap, done) = (b.block(), b.block());
        b.branch(same, swap, done, BranchRole::Check);
        b.at(swap);
        b.store_as(place, desc, value);
        b.jump(done);
        b.at(done);
        let answer = match types.result == Desc::Boolean {
            true => b.cast(CastOp::Zext, Ty::I32, same),
            false => old,
        };
        b.ret(Some(answer));
        return true;
    }
    let objects = matches!(types.params.first(), Some(Desc::Ref(name)) if &**name == "java/lang/Object");
    match (name, types.params.len()) {
        (name, 2) if objects && name.starts_with("get") => {
            let place = place(b);
            let value = b.load_as(place, &types.result);
            b.ret(Some(value));
        }
        (name, 3) if objects && name.starts_with("put") => {
            let place = place(b);
            b.store_as(place, &types.params[2], b.param(3));
            b.ret(None);
        }
        _ => return false,
    }
    true
}
