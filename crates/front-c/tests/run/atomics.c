#include <stdio.h>
#include <stdatomic.h>
_Atomic int a = 5; _Atomic(long) b; atomic_int c = ATOMIC_VAR_INIT(3); atomic_flag fl = ATOMIC_FLAG_INIT; atomic_bool ab;
struct S { _Atomic unsigned n; atomic_uchar u; } s;
_Atomic(int*) ap;
int _Atomic *pa=&a;

int main(){ a++; a+=4; b=a; b*=2; s.n--; s.u+=300; int x=10;
 printf("%d %ld %u %d\n", a, b, s.n, s.u);
 atomic_store(&c, 7); printf("%d\n", atomic_load(&c)); printf("%d\n", atomic_fetch_add(&c, 5)); printf("%d\n", atomic_exchange(&c, 2));
 int e=2; {int r=atomic_compare_exchange_strong(&c,&e,9); printf("%d %d\n", r, c);} e=1; {int r=atomic_compare_exchange_weak(&c,&e,9); printf("%d %d\n", r, e);}
 printf("%d\n", atomic_flag_test_and_set(&fl)); printf("%d\n", atomic_flag_test_and_set(&fl)); atomic_flag_clear(&fl);
 atomic_init(&ab, 1); printf("%d\n", ab); printf("%d\n", atomic_fetch_or(&a, 1)); atomic_fetch_sub_explicit(&a,1,memory_order_relaxed); atomic_fetch_and(&a,12); atomic_fetch_xor(&a,1); printf("%d\n",a);
 int loc=3; ap=&loc; *ap=4; printf("%d %d\n", loc, *pa); atomic_thread_fence(memory_order_seq_cst);
 __sync_fetch_and_add(&x,2); __atomic_add_fetch(&x,1,__ATOMIC_SEQ_CST); printf("%d\n",x); printf("%d\n", __sync_bool_compare_and_swap(&x,13,1)); 
 __atomic_store_n(&x,5,0); int y=__atomic_load_n(&x,0); printf("%d\n", __sync_lock_test_and_set(&x,3)); __sync_lock_release(&x); __sync_synchronize();
 printf("%zu\n", sizeof(_Atomic char)); atomic_fetch_add(&s.u, 1);
 printf("%d\n", atomic_is_lock_free(&a)); _Atomic int l2=4; l2<<=2; printf("%d\n", l2--);
 return 0; }
